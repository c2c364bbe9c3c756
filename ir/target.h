#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace monojit::ir {

/// Bit sets of chips, for the table of operations.
enum class Chip : std::uint8_t { kGfx942 = 1, kGfx950 = 2 };

/// What the DSL has to know of a chip.
struct Target {
  std::string_view arch;  ///< "gfx950"
  Chip chip;
  std::uint32_t lds_bytes;    ///< of one compute unit, hence the most that a workgroup can have
  std::uint32_t lds_granule;  ///< allocation unit, bytes
  std::uint32_t wave_size;    ///< lanes
  std::uint32_t max_waves_per_eu;
  float fp8_max;  ///< largest finite value of the 8-bit E4M3 format of MFMAs and conversions
};

inline constexpr Target kTargetGfx942{"gfx942", Chip::kGfx942, 64 * 1024, 512, 64, 8, 240.0f};
inline constexpr Target kTargetGfx950{"gfx950", Chip::kGfx950, 160 * 1024, 1280, 64, 8, 448.0f};

std::span<const Target> targets();
/// nullptr when `arch` is none of targets().
const Target* find_target(std::string_view arch);

}  // namespace monojit::ir
