#include "codegen/object/code_object.h"

#include <algorithm>

#include <fmt/format.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include "codegen/error.h"
#include "codegen/object/metadata_note.h"

namespace monojit::codegen {
namespace {

using Elf = llvm::object::ELFObjectFile<llvm::object::ELF64LE>;

[[noreturn]] void fail(const std::string& reason) { throw CodegenError(fmt::format("not a code object: {}", reason)); }

template <class T>
T value_of(llvm::Expected<T> expected) {
  if (!expected) fail(llvm::toString(expected.takeError()));
  return std::move(*expected);
}

const Elf& typed(const llvm::object::ELFObjectFileBase& elf) { return llvm::cast<Elf>(elf); }

std::span<const std::byte> as_bytes(llvm::StringRef text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

std::span<const std::byte> metadata_blob(const llvm::object::ELFObjectFileBase& elf) {
  const auto& file = typed(elf).getELFFile();
  const auto sections = value_of(file.sections());
  for (const auto& section : sections) {
    if (section.sh_type != llvm::ELF::SHT_NOTE) continue;
    llvm::Error error = llvm::Error::success();
    for (const auto& note : file.notes(section, error)) {
      if (note.getName() != "AMDGPU" || note.getType() != llvm::ELF::NT_AMDGPU_METADATA) continue;
      llvm::consumeError(std::move(error));
      return as_bytes(note.getDescAsStringRef(section.sh_addralign));
    }
    if (error) fail(llvm::toString(std::move(error)));
  }
  fail("it has no metadata note");
}

}  // namespace

CodeObject::CodeObject(std::span<const std::byte> bytes)
    : buffer_(llvm::MemoryBuffer::getMemBufferCopy(
          llvm::StringRef(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "code object")) {
  std::unique_ptr<llvm::object::ObjectFile> file =
      value_of(llvm::object::ObjectFile::createELFObjectFile(buffer_->getMemBufferRef()));
  if (!llvm::isa<Elf>(*file) || file->getArch() != llvm::Triple::amdgcn) fail("it is an ELF file for another machine");
  elf_.reset(llvm::cast<llvm::object::ELFObjectFileBase>(file.release()));
}

CodeObject::CodeObject(CodeObject&&) noexcept = default;
CodeObject& CodeObject::operator=(CodeObject&&) noexcept = default;
CodeObject::~CodeObject() = default;

std::string CodeObject::arch() const { return elf_->tryGetCPUName().value_or("unknown").str(); }

std::vector<KernelMetadata> CodeObject::kernels() const {
  std::vector<KernelMetadata> kernels = read_metadata_note(metadata_blob(*elf_));
  const std::vector<CodeRange> code = functions();
  for (KernelMetadata& kernel : kernels) {
    const auto found = std::ranges::find(code, kernel.symbol, &CodeRange::symbol);
    if (found == code.end()) fail(fmt::format("it has no code of kernel {}", kernel.symbol));
    kernel.resources.code_bytes = static_cast<std::uint32_t>(found->bytes.size());
  }
  return kernels;
}

std::string CodeObject::metadata_text() const { return metadata_note_text(metadata_blob(*elf_)); }

std::vector<CodeRange> CodeObject::functions() const {
  std::vector<CodeRange> ranges;
  for (const llvm::object::ELFSymbolRef symbol : elf_->symbols()) {
    if (symbol.getELFType() != llvm::ELF::STT_FUNC || symbol.getSize() == 0) continue;
    const llvm::object::section_iterator section = value_of(symbol.getSection());
    if (section == elf_->section_end()) continue;
    const std::uint64_t address = value_of(symbol.getAddress());
    const std::span<const std::byte> contents = as_bytes(value_of(section->getContents()));
    const std::uint64_t offset = address - section->getAddress();
    if (offset > contents.size() || symbol.getSize() > contents.size() - offset)
      fail("a function lies outside its section");
    ranges.push_back({value_of(symbol.getName()).str(), address, contents.subspan(offset, symbol.getSize())});
  }
  std::ranges::sort(ranges, {}, &CodeRange::address);
  return ranges;
}

std::vector<std::string> CodeObject::undefined_symbols() const {
  std::vector<std::string> names;
  for (const llvm::object::ELFSymbolRef symbol : elf_->symbols()) {
    const std::uint32_t flags = value_of(symbol.getFlags());
    if ((flags & llvm::object::SymbolRef::SF_Undefined) == 0) continue;
    const llvm::StringRef name = value_of(symbol.getName());
    if (!name.empty()) names.push_back(name.str());
  }
  return names;
}

}  // namespace monojit::codegen
