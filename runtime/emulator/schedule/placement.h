// Which compute units have room: wave slots and registers of their SIMDs, and LDS.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "runtime/emulator/chip.h"
#include "runtime/emulator/code/kernel_info.h"

namespace monojit::emulator {

inline constexpr u32 kMostSimds = 4;

/// What a workgroup takes, in allocation units of the chip.
struct Demand {
  u32 waves = 0;
  u32 registers = 0;  ///< VGPRs and AGPRs of a lane, a wave
  u32 sgprs = 0;      ///< a wave
  u32 lds_bytes = 0;  ///< the workgroup
};
[[nodiscard]] Demand demand_of(const KernelDescriptor& kernel, u32 work_items, u32 lds_bytes, const ChipLimits& chip);

using WavesOnSimds = std::array<u8, kMostSimds>;

class ComputeUnit {
 public:
  explicit ComputeUnit(const ChipLimits& chip);

  /// Spreads the waves over the SIMDs. Nothing is taken if they don't all fit; `limit`, if given, then names what
  /// lacks.
  std::optional<WavesOnSimds> take(const Demand& demand, const char** limit = nullptr);
  void give_back(const Demand& demand, const WavesOnSimds& waves);
  [[nodiscard]] u32 waves() const { return waves_; }

 private:
  struct Simd {
    u32 slots;
    u32 registers;
    u32 sgprs;
  };

  u32 simd_count_;
  std::array<Simd, kMostSimds> simds_{};
  u32 lds_bytes_;
  u32 waves_ = 0;
};

/// Where a workgroup is.
struct Place {
  u32 xcd = 0;
  u32 cu = 0;  ///< in its XCD
  WavesOnSimds waves{};
};

/// The compute units of one device.
class Placement {
 public:
  explicit Placement(const ChipLimits& chip);

  /// Room on the compute unit of that XCD which holds the fewest waves; nothing if none has room.
  std::optional<Place> take(u32 xcd, const Demand& demand);
  void give_back(const Place& place, const Demand& demand);

 private:
  u32 cus_per_xcd_;
  std::vector<ComputeUnit> units_;
};

/// How many workgroups of this kernel an empty compute unit holds, and what limits them.
struct Residency {
  u32 workgroups_per_cu = 0;
  const char* limit = "";
};
[[nodiscard]] Residency residency(const KernelDescriptor& kernel, u32 work_items, u32 lds_bytes,
                                  const ChipLimits& chip);

}  // namespace monojit::emulator
