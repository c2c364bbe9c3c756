// Moving the active lanes of a wave, once their addresses are known to be good.
#pragma once

#include "runtime/emulator/execute/access.h"
#include "runtime/emulator/execute/wave.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {

// Staging rows of memory operations.
inline constexpr u32 kOffsetStaging = 0;
inline constexpr u32 kWideStaging = 1;  // two rows: 64-bit addresses
inline constexpr u32 kActiveStaging = 3;

/// Smallest and largest of the active lanes' offsets.
struct OffsetRange {
  u32 low;
  u32 high;
};

MONOJIT_EMULATOR_INLINE OffsetRange range_of(const u32* offsets, u64 exec) {
  u32 low = ~0u;
  u32 high = 0;
  if (exec == ~u64{0}) {
    for (u32 i = 0; i < kLanes; ++i) {
      low = offsets[i] < low ? offsets[i] : low;
      high = offsets[i] > high ? offsets[i] : high;
    }
  } else {
    for (u64 lanes = exec; lanes != 0; lanes &= lanes - 1) {
      const u32 offset = offsets[__builtin_ctzll(lanes)];
      low = offset < low ? offset : low;
      high = offset > high ? offset : high;
    }
  }
  return {low, high};
}

template <class Access>
concept HasMoveAll = requires { &Access::move_all; };

/// Every active lane: memory at base + its offset.
template <class Access>
MONOJIT_EMULATOR_INLINE void move_lanes(u32* result, const u32* data, u8* base, const u32* offsets, u64 exec) {
  if constexpr (HasMoveAll<Access>) {
    if (exec == ~u64{0}) return Access::move_all(result, data, base, offsets);
  }
  for (u64 lanes = exec; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    Access::move(result, data, lane, base + offsets[lane]);
  }
}

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
