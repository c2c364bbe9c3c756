#pragma once

#include <cstdint>
#include <string_view>

#include <elf.h>

/// What an AMDGPU code object has beyond ELF, as LLVM's "User Guide for AMDGPU Backend" has it.
namespace monojit::runtime {

inline constexpr Elf64_Half kAmdGpu = 224;    // EM_AMDGPU
inline constexpr Elf64_Word kMachMask = 255;  // EF_AMDGPU_MACH
inline constexpr std::string_view kNoteOwner = "AMDGPU";
inline constexpr Elf64_Word kMetadataNote = 32;  // NT_AMDGPU_METADATA
inline constexpr std::string_view kDescriptorSuffix = ".kd";
inline constexpr std::uint64_t kDescriptorBytes = 64;

struct Chip {
  std::string_view arch;
  Elf64_Word machine;  ///< in e_flags
};
inline constexpr Chip kChips[] = {{"gfx942", 0x4c}, {"gfx950", 0x4f}};

/// Of the parts of a note.
constexpr std::uint64_t note_aligned(std::uint64_t size) { return (size + 3) / 4 * 4; }

}  // namespace monojit::runtime
