#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/object/resources.h"

namespace llvm {
class MemoryBuffer;
namespace object {
class ELFObjectFileBase;
}
}  // namespace llvm

namespace monojit::codegen {

/// A range of machine code.
struct CodeRange {
  std::string symbol;
  std::uint64_t address = 0;
  std::span<const std::byte> bytes;
};

/// A reader over the bytes of an AMDGPU ELF, relocatable or linked; copies them.
class CodeObject {
 public:
  /// Throws CodegenError when `bytes` are not such a file.
  explicit CodeObject(std::span<const std::byte> bytes);
  CodeObject(CodeObject&&) noexcept;
  CodeObject& operator=(CodeObject&&) noexcept;
  ~CodeObject();

  /// "gfx950"
  std::string arch() const;
  /// In the order of the metadata. Throws CodegenError when the metadata is missing or malformed.
  std::vector<KernelMetadata> kernels() const;
  /// The notes' metadata as YAML.
  std::string metadata_text() const;
  /// The functions of the text section, by address; spans point into this object.
  std::vector<CodeRange> functions() const;
  /// Names that something here refers to and nothing here defines.
  std::vector<std::string> undefined_symbols() const;

  const llvm::object::ELFObjectFileBase& elf() const { return *elf_; }

 private:
  std::unique_ptr<llvm::MemoryBuffer> buffer_;
  std::unique_ptr<llvm::object::ELFObjectFileBase> elf_;
};

}  // namespace monojit::codegen
