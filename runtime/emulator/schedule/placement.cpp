#include "runtime/emulator/schedule/placement.h"

#include <algorithm>

namespace monojit::emulator {
namespace {

u32 round_up(u32 value, u32 unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

Demand demand_of(const KernelDescriptor& kernel, u32 work_items, u32 lds_bytes, const ChipLimits& chip) {
  return {.waves = std::max(1u, (work_items + kLanes - 1) / kLanes),
          .registers = std::max(chip.register_granule, round_up(kernel.vgprs + kernel.agprs, chip.register_granule)),
          .sgprs = std::max(chip.sgpr_granule, round_up(kernel.sgprs, chip.sgpr_granule)),
          .lds_bytes = round_up(lds_bytes, chip.lds_granule)};
}

ComputeUnit::ComputeUnit(const ChipLimits& chip) : simd_count_(chip.simds), lds_bytes_(chip.lds_bytes) {
  simds_.fill({.slots = chip.waves_per_simd, .registers = chip.registers_per_lane, .sgprs = chip.sgprs_per_simd});
}

std::optional<WavesOnSimds> ComputeUnit::take(const Demand& demand, const char** limit) {
  const auto refuse = [&](const char* why) {
    if (limit != nullptr) *limit = why;
    return std::nullopt;
  };
  if (demand.lds_bytes > lds_bytes_) return refuse("LDS");
  auto after = simds_;
  WavesOnSimds taken{};
  for (u32 wave = 0; wave < demand.waves; ++wave) {
    u32 best = simd_count_;
    bool slot = false, registers = false;
    for (u32 i = 0; i < simd_count_; ++i) {
      const Simd& simd = after[i];
      const bool enough = simd.registers >= demand.registers;
      slot |= simd.slots > 0;
      registers |= simd.slots > 0 && enough;
      if (simd.slots == 0 || !enough || simd.sgprs < demand.sgprs) continue;
      if (best == simd_count_ || simd.slots > after[best].slots) best = i;
    }
    if (best == simd_count_) return refuse(!slot ? "wave slots" : !registers ? "registers" : "scalar registers");
    --after[best].slots;
    after[best].registers -= demand.registers;
    after[best].sgprs -= demand.sgprs;
    ++taken[best];
  }
  simds_ = after;
  lds_bytes_ -= demand.lds_bytes;
  waves_ += demand.waves;
  return taken;
}

void ComputeUnit::give_back(const Demand& demand, const WavesOnSimds& waves) {
  for (u32 i = 0; i < simd_count_; ++i) {
    simds_[i].slots += waves[i];
    simds_[i].registers += waves[i] * demand.registers;
    simds_[i].sgprs += waves[i] * demand.sgprs;
  }
  lds_bytes_ += demand.lds_bytes;
  waves_ -= demand.waves;
}

Placement::Placement(const ChipLimits& chip)
    : cus_per_xcd_(chip.cus_per_xcd()), units_(chip.compute_units, ComputeUnit(chip)) {}

std::optional<Place> Placement::take(u32 xcd, const Demand& demand) {
  const auto first = units_.begin() + xcd * cus_per_xcd_;
  // An emptier unit never has less room for these waves than a fuller one of the same kernel, but kernels mix: try all,
  // emptiest first.
  u32 most = 0;
  for (u32 least = 0; least != ~u32{0}; least = most) {
    most = ~u32{0};
    for (u32 cu = 0; cu < cus_per_xcd_; ++cu) {
      const u32 waves = first[cu].waves();
      if (waves > least) most = std::min(most, waves);
      if (waves != least) continue;
      if (const auto taken = first[cu].take(demand)) return Place{xcd, cu, *taken};
    }
  }
  return std::nullopt;
}

void Placement::give_back(const Place& place, const Demand& demand) {
  units_[place.xcd * cus_per_xcd_ + place.cu].give_back(demand, place.waves);
}

Residency residency(const KernelDescriptor& kernel, u32 work_items, u32 lds_bytes, const ChipLimits& chip) {
  const Demand demand = demand_of(kernel, work_items, lds_bytes, chip);
  ComputeUnit unit(chip);
  Residency result;
  while (unit.take(demand, &result.limit)) ++result.workgroups_per_cu;
  return result;
}

}  // namespace monojit::emulator
