#include "runtime/emulator/code/debug_lines.h"

#include <fmt/format.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

namespace monojit::emulator {

std::vector<std::string> source_lines(std::span<const u8> code_object, std::span<const u64> addresses) {
  std::vector<std::string> lines(addresses.size());
  const llvm::StringRef bytes(reinterpret_cast<const char*>(code_object.data()), code_object.size());
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "code object"));
  if (!object) {
    llvm::consumeError(object.takeError());
    return lines;
  }
  // Line information that is damaged is as good as none: by default LLVM writes to the program's stderr.
  const auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  const auto context = llvm::DWARFContext::create(**object, llvm::DWARFContext::ProcessDebugRelocations::Process,
                                                  nullptr, "", ignore, ignore);
  llvm::DILineInfoSpecifier specifier;
  specifier.FLIKind = llvm::DILineInfoSpecifier::FileLineInfoKind::RelativeFilePath;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto line =
        context->getLineInfoForAddress({addresses[i], llvm::object::SectionedAddress::UndefSection}, specifier);
    if (!line || line->Line == 0 || line->FileName == llvm::DILineInfo::BadString) continue;
    lines[i] = fmt::format("{}:{}", line->FileName, line->Line);
  }
  return lines;
}

std::string source_line(std::span<const u8> code_object, u64 address) {
  return source_lines(code_object, {&address, 1})[0];
}

}  // namespace monojit::emulator
