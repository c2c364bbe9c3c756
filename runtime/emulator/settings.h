// What the environment and the extra entry points choose.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "runtime/emulator/checks/checks.h"
#include "runtime/emulator/chip.h"
#include "runtime/emulator/numerics/matrix.h"

namespace monojit::emulator {

inline constexpr u32 kMostDevices = 16;

enum class MemoryMode : u8 { kCoherent, kWeak };

/// A workgroup that takes its place on a compute unit and never runs, in every launch.
struct StalledWorkgroup {
  std::optional<u32> device;  ///< none: of every device
  std::optional<u64> number;  ///< none: every one of the device's
  bool operator==(const StalledWorkgroup&) const = default;
};

struct Settings {
  ChipLimits chip = kMi355x;
  u32 devices = 1;
  u32 threads = 1;  ///< host threads that execute waves; one is reproducible
  MatrixModel matrix = MatrixModel::kCdna3;
  u64 seed = 0;  ///< order of the workgroups (0 is ascending), and what the weak memory mode does
  MemoryMode memory = MemoryMode::kCoherent;
  Checks checks{};
  bool strict_alignment = false;  ///< unaligned loads and stores fault, where the driver makes the chip take them
  std::optional<HostIsa> host_isa = std::nullopt;  ///< of the handlers; none: the best that this host has
  std::vector<StalledWorkgroup> stalled{};         ///< to see what the others do when one hangs
  u64 skew = 0;                                    ///< which devices are held back when; 0: none ever
  u32 limit_seconds = 0;                           ///< of a launch, on this machine's clock; 0: none

  [[nodiscard]] bool stalls(u32 device, u64 workgroup) const;
};

/// Reads MONOJIT_EMULATOR_CHIP, _DEVICES, _THREADS, _MATRIX, _MEMORY, _CHECKS, _SEED, _ALIGNMENT, _HOST_ISA, _STALL,
/// _SKEW and _LIMIT; an empty one is as good as none. Throws Failure (kNotInitialized) naming the variable, its value
/// and what is possible.
[[nodiscard]] Settings settings_from_environment();

/// One option by name ("chip", "devices", "threads", "matrix", "memory", "checks", "seed", "alignment",
/// "host_isa", "stall", "skew", "limit"); the same errors, with that name in the place of the variable's.
void apply_setting(Settings& settings, std::string_view name, std::string_view value);

/// Refuses what each option allows, but not all of them together. Throws Failure (kNotInitialized).
void check_together(const Settings& settings);

}  // namespace monojit::emulator
