#include "runtime/emulator/code/debug_lines.h"

#include <fmt/format.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

namespace monojit::emulator {

std::string source_line(std::span<const u8> code_object, u64 address) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(code_object.data()), code_object.size());
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "code object"));
  if (!object) {
    llvm::consumeError(object.takeError());
    return {};
  }
  const auto context = llvm::DWARFContext::create(**object);
  llvm::DILineInfoSpecifier specifier;
  specifier.FLIKind = llvm::DILineInfoSpecifier::FileLineInfoKind::RelativeFilePath;
  const auto line = context->getLineInfoForAddress({address, llvm::object::SectionedAddress::UndefSection}, specifier);
  if (!line || line->Line == 0 || line->FileName == llvm::DILineInfo::BadString) return {};
  return fmt::format("{}:{}", line->FileName, line->Line);
}

}  // namespace monojit::emulator
