// The limits of the chips that the emulator can be.
#pragma once

#include <string_view>

#include "runtime/emulator/numerics/matrix.h"
#include "runtime/emulator/types.h"

namespace monojit::emulator {

struct ChipLimits {
  Chip chip;
  std::string_view arch;     ///< "gfx950"
  std::string_view product;  ///< "AMD Instinct MI355X"
  u32 elf_machine;           ///< EF_AMDGPU_MACH of a code object's e_flags
  u32 compute_units;
  u32 xcds = 8;     ///< dies with compute units; each has its own share of the workgroups and its own L2
  u32 lds_bytes;    ///< a compute unit, and the most a workgroup may use
  u32 lds_granule;  ///< allocation unit
  u32 simds = 4;    ///< a compute unit
  u32 waves_per_simd = 8;
  u32 registers_per_lane = 512;  ///< VGPRs and AGPRs together, a SIMD
  u32 register_granule = 8;
  u32 sgprs_per_simd = 800;
  u32 sgpr_granule = 16;
  u32 clock_khz;
  u64 memory_bytes;

  [[nodiscard]] constexpr u32 cus_per_xcd() const { return compute_units / xcds; }
};

inline constexpr u64 kGiB = u64{1} << 30;

inline constexpr ChipLimits kMi355x{.chip = Chip::kGfx950,
                                    .arch = "gfx950",
                                    .product = "AMD Instinct MI355X (monojit emulator)",
                                    .elf_machine = 0x04f,
                                    .compute_units = 256,
                                    .lds_bytes = 160 * 1024,
                                    .lds_granule = 1280,
                                    .clock_khz = 2'400'000,
                                    .memory_bytes = 288 * kGiB};

inline constexpr ChipLimits kMi300x{.chip = Chip::kGfx942,
                                    .arch = "gfx942",
                                    .product = "AMD Instinct MI300X (monojit emulator)",
                                    .elf_machine = 0x04c,
                                    .compute_units = 304,
                                    .lds_bytes = 64 * 1024,
                                    .lds_granule = 512,
                                    .clock_khz = 2'100'000,
                                    .memory_bytes = 192 * kGiB};

inline constexpr const ChipLimits* kChips[] = {&kMi355x, &kMi300x};

}  // namespace monojit::emulator
