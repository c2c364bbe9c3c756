// Moving the active lanes of a wave, once their addresses are known to be good.
#pragma once

#include "runtime/emulator/execute/access.h"
#include "runtime/emulator/execute/lanes.h"
#include "runtime/emulator/execute/wave.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {

// Staging rows of memory operations.
inline constexpr u32 kOffsetStaging = 0;
inline constexpr u32 kWideStaging = 1;  // two rows: 64-bit addresses
inline constexpr u32 kActiveStaging = 3;
inline constexpr u32 kMovedStaging = 4;  // four rows: data on their way to LDS
static_assert(kMovedStaging + 4 <= kStagingRows);

/// Smallest and largest of the active lanes' offsets, and the bits that are set in any of them.
struct OffsetRange {
  u32 low;
  u32 high;
  u32 bits;
};

MONOJIT_EMULATOR_INLINE OffsetRange range_of(const u32* offsets, u64 exec) {
  u32 low = ~0u;
  u32 high = 0;
  u32 bits = 0;
  if (exec == ~u64{0}) {
    for (u32 i = 0; i < kLanes; ++i) {
      low = offsets[i] < low ? offsets[i] : low;
      high = offsets[i] > high ? offsets[i] : high;
      bits |= offsets[i];
    }
  } else {
    for (u64 lanes = exec; lanes != 0; lanes &= lanes - 1) {
      const u32 offset = offsets[__builtin_ctzll(lanes)];
      low = offset < low ? offset : low;
      high = offset > high ? offset : high;
      bits |= offset;
    }
  }
  return {low, high, bits};
}

/// What an access of flat, global or private memory is a multiple of. Loads and stores may be unaligned, as the driver
/// sets these chips up, unless the strict rule is chosen; atomics may not.
template <class Access>
inline constexpr u32 kNatural = Access::kKind == AccessKind::kAtomic || Access::kBytes < 4 ? Access::kBytes : 4;
template <class Access>
MONOJIT_EMULATOR_INLINE bool needs_alignment(const Wave& wave) {
  return Access::kKind == AccessKind::kAtomic || wave.worker->strict_alignment;
}

/// Counts bytes that an access moves. What its lanes reach must have been found just now, where it is not LDS or
/// scratch.
template <class Access>
MONOJIT_EMULATOR_INLINE void count_bytes(Worker& worker, MemorySpace space, u64 bytes) {
  const u32 index = static_cast<u32>(space);
  if constexpr (Access::kKind == AccessKind::kLoad) {
    worker.bytes.loaded[index] += bytes;
  } else {
    worker.bytes.stored[index] += bytes;
    if constexpr (Access::kKind == AccessKind::kAtomic) {
      if constexpr (Access::kReturnsOld) worker.bytes.loaded[index] += bytes;
    }
  }
}
/// The same of all active lanes.
template <class Access>
MONOJIT_EMULATOR_INLINE void count_lanes(Worker& worker, MemorySpace space, u64 exec) {
  count_bytes<Access>(worker, space, static_cast<u64>(__builtin_popcountll(exec)) * Access::kBytes);
}

/// Where a load to LDS puts a lane's `bytes`.
MONOJIT_EMULATOR_INLINE u8* lds_destination(Wave& wave, const MicroOp* op, u32 lane, u64 target, u32 bytes) {
  if (target + bytes > wave.lds_bytes) lds_fault(wave, op, lane, target, bytes);
  if (target % 4 != 0) misaligned_lds_fault(op, AccessKind::kStore, lane, target, bytes, 4);
  wave.worker->bytes.stored[static_cast<u32>(MemorySpace::kLds)] += bytes;
  return wave.lds + target;
}

/// One lane of a load to LDS; narrow data are extended to a dword.
template <class Access>
MONOJIT_EMULATOR_INLINE void load_lane_to_lds(Wave& wave, const MicroOp* op, u32 lane, u8* memory, u64 target) {
  constexpr u32 kWords = (Access::kBytes + 3) / 4;
  u32* const moved = wave.worker->staging[kMovedStaging];
  u8* const destination = lds_destination(wave, op, lane, target, kWords * 4);
  Access::move(moved, nullptr, lane, memory);
  for (u32 i = 0; i < kWords; ++i) store_as(destination + 4 * i, moved[kLanes * i + lane]);
}

template <class Access>
concept HasMoveAll = requires { &Access::move_all; };

/// Loads where many, but not all lanes are active: the others read again what the first one does, for nothing.
template <class Access>
MONOJIT_EMULATOR_INLINE void load_many(u32* result, u8* base, const u32* offsets, u64 exec) {
  alignas(kRowAlignment) u32 places[kLanes];
  alignas(kRowAlignment) u32 rows[Access::kParts * kLanes];
  const u32 first = offsets[__builtin_ctzll(exec)];
  for (u32 i = 0; i < kLanes; ++i) places[i] = first;
  store_masked(places, offsets, exec);
  Access::move_all(rows, nullptr, base, places);
  for (u32 part = 0; part < Access::kParts; ++part) store_masked(result + kLanes * part, rows + kLanes * part, exec);
}

/// One lane. Whether memory is another afterwards: waves that poll may keep what they see, again and again.
template <class Access>
MONOJIT_EMULATOR_INLINE bool move_lane(u32* result, const u32* data, u32 lane, u8* memory) {
  if constexpr (Access::kKind == AccessKind::kAtomic) {
    return Access::move(result, data, lane, memory);
  } else if constexpr (Access::kKind == AccessKind::kStore) {
    u8 before[Access::kBytes];
    std::memcpy(before, memory, Access::kBytes);
    Access::move(result, data, lane, memory);
    return std::memcmp(before, memory, Access::kBytes) != 0;
  } else {
    Access::move(result, data, lane, memory);
    return false;
  }
}

/// Every active lane: memory at base + its offset. Whether memory was written; a store by all lanes at once may have
/// left it as it was.
template <class Access>
MONOJIT_EMULATOR_INLINE bool move_lanes(u32* result, const u32* data, u8* base, const u32* offsets, u64 exec) {
  if constexpr (HasMoveAll<Access>) {
    if (exec == ~u64{0}) {
      Access::move_all(result, data, base, offsets);
      return Access::kKind == AccessKind::kStore;
    }
    if constexpr (Access::kKind == AccessKind::kLoad) {
      constexpr int kMany = 24;  // lanes that take as long one by one
      if (__builtin_popcountll(exec) >= kMany) {
        load_many<Access>(result, base, offsets, exec);
        return false;
      }
    }
  }
  bool wrote = false;
  for (u64 lanes = exec; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    wrote |= move_lane<Access>(result, data, lane, base + offsets[lane]);
  }
  return wrote;
}

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
