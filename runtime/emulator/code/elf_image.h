// An AMDGPU code object in memory: checked, and read without copying.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/emulator/chip.h"
#include "runtime/emulator/types.h"

namespace monojit::emulator {

inline constexpr std::string_view kDescriptorSuffix = ".kd";  ///< of the symbol of a kernel's descriptor
inline constexpr u64 kDescriptorBytes = 64;

struct ElfSegment {
  u64 address;
  u64 memory_bytes;
  std::span<const u8> content;
  bool executable;
};

struct ElfSymbol {
  std::string_view name;
  u64 address;
  u64 bytes;
  bool function;
  bool defined;
};

struct ElfRelocation {
  u64 address;
  u32 type;
  std::string_view symbol;
  u64 symbol_address;
  bool symbol_defined;
  i64 addend;
};

/// All views point into the bytes given to parse().
struct ElfImage {
  std::vector<ElfSegment> segments;
  std::vector<ElfSymbol> symbols;
  std::vector<ElfRelocation> relocations;
  std::span<const u8> metadata;  ///< the MessagePack of NT_AMDGPU_METADATA; may be empty
  u32 machine = 0;               ///< EF_AMDGPU_MACH
  bool sramecc = false;
  bool xnack = false;

  /// An object for any chip. `bytes` may be longer than it. Throws Failure (kInvalidImage).
  static ElfImage parse(std::span<const u8> bytes);
  /// An object for `chip`. Throws Failure (kInvalidImage, or kWrongChip naming both chips).
  static ElfImage parse(std::span<const u8> bytes, const ChipLimits& chip);

  /// What the file holds for an address range, before relocation. Throws Failure (kInvalidImage) if no segment does.
  [[nodiscard]] std::span<const u8> content(u64 address, u64 bytes) const;
  /// Names of all kernels: what has a descriptor.
  [[nodiscard]] std::vector<std::string> kernel_names() const;
};

/// How many bytes the ELF file at `image` has, from its own headers; HIP's load call gives no size.
/// Throws Failure (kInvalidImage) if no ELF file begins there.
[[nodiscard]] u64 elf_file_bytes(const void* image);

}  // namespace monojit::emulator
