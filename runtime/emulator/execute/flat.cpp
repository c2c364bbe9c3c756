// GLOBAL and FLAT: loads, stores and atomics.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/atomic_access.h"
#include "runtime/emulator/execute/control.h"
#include "runtime/emulator/execute/lane_memory.h"
#include "runtime/emulator/execute/memory_flags.h"
#include "runtime/emulator/execute/observed_memory.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

/// Micro-op: dst result, a address row(s), b scalar base or kNoOperand, c data rows, imm signed offset.
MONOJIT_EMULATOR_INLINE u64 immediate_of(const MicroOp* op) { return static_cast<u64>(i64{static_cast<i32>(op->imm)}); }

/// Puts the lanes' 64-bit addresses into two staging rows.
MONOJIT_EMULATOR_INLINE void wide_addresses(Wave& wave, const MicroOp* op, u32* rows) {
  if (op->b == kNoOperand) {
    const u32* const address = wave.row(op->a);
    for (u32 i = 0; i < kLanes; ++i) {
      const u64 value = (u64{address[i]} | u64{address[kLanes + i]} << 32) + immediate_of(op);
      rows[i] = static_cast<u32>(value);
      rows[kLanes + i] = static_cast<u32>(value >> 32);
    }
  } else {
    const u64 base = wave.pair(op->b) + immediate_of(op);
    for (u32 i = 0; i < kLanes; ++i) {
      const u64 value = base + (op->a == kNoOperand ? 0 : wave.row(op->a)[i]);
      rows[i] = static_cast<u32>(value);
      rows[kLanes + i] = static_cast<u32>(value >> 32);
    }
  }
}

/// Where a lane's address lies: plain memory, or for flat_* also LDS or scratch.
template <class Access>
MONOJIT_EMULATOR_INLINE u8* resolve(Wave& wave, const MicroOp* op, u32 lane, u64 address) {
  constexpr u64 kApertureMask = ~u64{0} << 32;
  const bool flat = (op->aux & kFlatAddresses) != 0;
  if (flat && (address & kApertureMask) == kSharedApertureBase) {
    const u64 offset = address & ~kApertureMask;
    if (needs_alignment<Access>(wave) && offset % kNatural<Access> != 0)
      misaligned_lds_fault(op, Access::kKind, lane, offset, Access::kBytes, kNatural<Access>);
    if (offset + Access::kBytes > wave.lds_bytes) lds_fault(wave, op, lane, offset, Access::kBytes);
    count_bytes<Access>(*wave.worker, MemorySpace::kLds, Access::kBytes);
    return wave.lds + offset;
  }
  if (flat && (address & kApertureMask) == kPrivateApertureBase) {
    const u64 offset = address & ~kApertureMask;
    if (offset + Access::kBytes > wave.scratch_lane_bytes) scratch_fault(wave, op, lane, offset, Access::kBytes);
    count_bytes<Access>(*wave.worker, MemorySpace::kScratch, Access::kBytes);
    return wave.scratch + u64{lane} * wave.scratch_lane_bytes + offset;
  }
  if (needs_alignment<Access>(wave) && address % kNatural<Access> != 0)
    misaligned_fault(wave, op, Access::kKind, lane, address, Access::kBytes, kNatural<Access>);
  if (!wave.worker->reachable(address, address + Access::kBytes)) {
    memory_fault(wave, op, Access::kKind, lane, address, Access::kBytes);
  }
  count_bytes<Access>(*wave.worker, wave.worker->space, Access::kBytes);
  return reinterpret_cast<u8*>(address);
}

/// With a request, lanes that reach plain memory go there.
template <class Access>
[[gnu::noinline]] void move_resolved(Wave& wave, const MicroOp* op, u64 exec, MemoryRequest* request = nullptr) {
  u32* const rows = wave.worker->staging[kWideStaging];
  wide_addresses(wave, op, rows);
  u32* const result = op->dst == kNoOperand ? nullptr : wave.row(op->dst);
  const u32* const data = op->c == kNoOperand ? nullptr : wave.row(op->c);
  bool wrote = false;
  u64 looked_at = 0;
  for (u64 lanes = exec; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    const u64 address = u64{rows[lane]} | u64{rows[kLanes + lane]} << 32;
    u8* const place = resolve<Access>(wave, op, lane, address);
    if (looked_at == 0 && reinterpret_cast<u64>(place) == address) looked_at = address;
    if (request != nullptr && reinterpret_cast<u64>(place) == address) {
      add_lane(*request, lane, address, Access::kBytes);
    } else {
      wrote |= move_lane<Access>(result, data, lane, place);
    }
  }
  if (Access::kKind != AccessKind::kStore && looked_at != 0) wave.last_load = looked_at;
  wave.worker->memory_writes += wrote ? 1 : 0;
}

/// Finds a base and 32-bit offsets for the active lanes. False: they are too far apart.
MONOJIT_EMULATOR_INLINE bool narrow_addresses(Wave& wave, const MicroOp* op, u64 exec, u32* offsets, u64& base) {
  if (op->b != kNoOperand) {
    base = wave.pair(op->b) + immediate_of(op);
    if (op->a == kNoOperand) {
      for (u32 i = 0; i < kLanes; ++i) offsets[i] = 0;
    } else {
      std::memcpy(offsets, wave.row(op->a), kRowBytes);
    }
    return true;
  }
  const u32* const address = wave.row(op->a);
  const u32 first = static_cast<u32>(__builtin_ctzll(exec));
  // Offsets from 2 GiB below the first active lane: lanes within 2 GiB of it fit.
  const u64 origin = (u64{address[first]} | u64{address[kLanes + first]} << 32) - (u64{1} << 31);
  u32 outside = 0;
  u32* const active = wave.worker->staging[kActiveStaging];
  for (u32 i = 0; i < kLanes; ++i) {
    const u64 distance = (u64{address[i]} | u64{address[kLanes + i]} << 32) - origin;
    offsets[i] = static_cast<u32>(distance);
    active[i] = static_cast<u32>(distance >> 32);
  }
  for (u32 i = 0; i < kLanes; ++i) outside |= (exec >> i & 1) != 0 ? active[i] : 0;
  base = origin + immediate_of(op);
  return outside == 0;
}

template <class Access, bool kObserved>
void flat_handler(Wave& wave, const MicroOp* op) {
  const u64 exec = wave.exec();
  if (exec == 0) {
    if constexpr (kObserved) count_operation(wave);
    MONOJIT_EMULATOR_NEXT(wave, op);
  }
  u32* const offsets = wave.worker->staging[kOffsetStaging];
  u64 base = 0;
  bool done = false;
  if (narrow_addresses(wave, op, exec, offsets, base)) [[likely]] {
    const OffsetRange range = range_of(offsets, exec);
    const bool aligned = !needs_alignment<Access>(wave) || ((base | range.bits) & (kNatural<Access> - 1)) == 0;
    if (aligned && wave.worker->reachable(base + range.low, base + range.high + Access::kBytes)) [[likely]] {
      if constexpr (Access::kKind != AccessKind::kStore) wave.last_load = base + range.low;
      u32* const result = op->dst == kNoOperand ? nullptr : wave.row(op->dst);
      const u32* const data = op->c == kNoOperand ? nullptr : wave.row(op->c);
      count_lanes<Access>(*wave.worker, wave.worker->space, exec);
      if constexpr (kObserved) {
        MONOJIT_EMULATOR_NEXT_UNLESS(observe_range<Access>(wave, op, result, data, base, offsets, exec), wave, op);
      }
      const bool wrote = move_lanes<Access>(result, data, reinterpret_cast<u8*>(base), offsets, exec);
      wave.worker->memory_writes += wrote ? 1 : 0;
      done = true;
    }
  }
  if constexpr (kObserved) {
    move_resolved<Access>(wave, op, exec, &new_request<Access>(wave, op));
    const u32* const data = op->c == kNoOperand ? nullptr : wave.row(op->c);
    MONOJIT_EMULATOR_NEXT_UNLESS(submit<Access>(wave, op, data), wave, op);
  }
  if (!done) move_resolved<Access>(wave, op, exec);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// global_load_lds_*: LDS address = M0[17:2]*4 + offset + lane * stride.
template <class Access, u32 kStride, bool kObserved>
void global_to_lds(Wave& wave, const MicroOp* op) {
  MemoryRequest* request = nullptr;
  if constexpr (kObserved) request = &new_request<Access>(wave, op);
  u32* const rows = wave.worker->staging[kWideStaging];
  wide_addresses(wave, op, rows);
  const u64 lds_base = (wave.word(scalar_offset(kM0Word)) & 0x3fffc) + immediate_of(op);
  ++wave.worker->memory_writes;
  for (u64 lanes = wave.exec(); lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    const u64 address = u64{rows[lane]} | u64{rows[kLanes + lane]} << 32;
    if (!wave.worker->reachable(address, address + Access::kBytes)) {
      memory_fault(wave, op, AccessKind::kLoad, lane, address, Access::kBytes);
    }
    count_bytes<Access>(*wave.worker, wave.worker->space, Access::kBytes);
    const u64 target = lds_base + lane * kStride;
    if constexpr (kObserved) {
      (void)lds_destination(wave, op, lane, target, (Access::kBytes + 3) / 4 * 4);
      add_lane(*request, lane, address, Access::kBytes);
    } else {
      load_lane_to_lds<Access>(wave, op, lane, reinterpret_cast<u8*>(address), target);
    }
  }
  if constexpr (kObserved) {
    MONOJIT_EMULATOR_NEXT_UNLESS((submit_to_lds<Access, kStride>(wave, static_cast<u32>(lds_base))), wave, op);
  }
  MONOJIT_EMULATOR_NEXT(wave, op);
}

consteval Entry memory(std::string_view mnemonic, u8 rows, u16 flags, Handler handler, Handler observed,
                       Handler returning = nullptr, Handler observed_returning = nullptr) {
  return {.mnemonic = mnemonic,
          .form = Form::kFlat,
          .flags = flags,
          .count = CountClass::kVectorMemory,
          .data_rows = rows,
          .handlers = {handler, returning, nullptr, nullptr, observed, observed_returning}};
}

template <class Access>
consteval Entry flat(std::string_view mnemonic, u8 rows, u16 flags) {
  return memory(mnemonic, rows, flags, flat_handler<Access, false>, flat_handler<Access, true>);
}

template <class Access, u32 kStride>
consteval Entry to_lds(std::string_view mnemonic) {
  return memory(mnemonic, 0, kStores, global_to_lds<Access, kStride, false>, global_to_lds<Access, kStride, true>);
}

#define MONOJIT_FLAT(name, rows, flags, ...) \
  flat<__VA_ARGS__>("global_" name, rows, flags), flat<__VA_ARGS__>("flat_" name, rows, flags)

template <class T, auto kFunction, bool kCompares = false>
consteval Entry atomic(std::string_view mnemonic) {
  constexpr u8 kRows = static_cast<u8>(sizeof(T) / 4 * (kCompares ? 2 : 1));
  using Quiet = Atomic<T, kFunction, false, kCompares>;
  using Returning = Atomic<T, kFunction, true, kCompares>;
  return memory(mnemonic, kRows, kReturns, flat_handler<Quiet, false>, flat_handler<Quiet, true>,
                flat_handler<Returning, false>, flat_handler<Returning, true>);
}

#define MONOJIT_FLAT_ATOMIC(name, ...) \
  atomic<__VA_ARGS__>("global_atomic_" name), atomic<__VA_ARGS__>("flat_atomic_" name)

#define MONOJIT_FLAT_ATOMICS(suffix, u, s)                                               \
  MONOJIT_FLAT_ATOMIC("swap" suffix, u, AtomicOperations<u>::kSwap),                     \
      MONOJIT_FLAT_ATOMIC("cmpswap" suffix, u, AtomicOperations<u>::kCompareSwap, true), \
      MONOJIT_FLAT_ATOMIC("add" suffix, u, AtomicOperations<u>::kAdd),                   \
      MONOJIT_FLAT_ATOMIC("sub" suffix, u, AtomicOperations<u>::kSub),                   \
      MONOJIT_FLAT_ATOMIC("smin" suffix, s, AtomicOperations<s>::kMin),                  \
      MONOJIT_FLAT_ATOMIC("umin" suffix, u, AtomicOperations<u>::kMin),                  \
      MONOJIT_FLAT_ATOMIC("smax" suffix, s, AtomicOperations<s>::kMax),                  \
      MONOJIT_FLAT_ATOMIC("umax" suffix, u, AtomicOperations<u>::kMax),                  \
      MONOJIT_FLAT_ATOMIC("and" suffix, u, AtomicOperations<u>::kAnd),                   \
      MONOJIT_FLAT_ATOMIC("or" suffix, u, AtomicOperations<u>::kOr),                     \
      MONOJIT_FLAT_ATOMIC("xor" suffix, u, AtomicOperations<u>::kXor),                   \
      MONOJIT_FLAT_ATOMIC("inc" suffix, u, AtomicOperations<u>::kIncrement),             \
      MONOJIT_FLAT_ATOMIC("dec" suffix, u, AtomicOperations<u>::kDecrement)

constexpr Entry kEntries[] = {
    MONOJIT_FLAT("load_ubyte", 1, 0, LoadNarrow<u8>),
    MONOJIT_FLAT("load_sbyte", 1, 0, LoadNarrow<i8>),
    MONOJIT_FLAT("load_ushort", 1, 0, LoadNarrow<u16>),
    MONOJIT_FLAT("load_sshort", 1, 0, LoadNarrow<i16>),
    MONOJIT_FLAT("load_ubyte_d16", 1, 0, LoadHalf<u8, false>),
    MONOJIT_FLAT("load_ubyte_d16_hi", 1, 0, LoadHalf<u8, true>),
    MONOJIT_FLAT("load_sbyte_d16", 1, 0, LoadHalf<i8, false>),
    MONOJIT_FLAT("load_sbyte_d16_hi", 1, 0, LoadHalf<i8, true>),
    MONOJIT_FLAT("load_short_d16", 1, 0, LoadHalf<u16, false>),
    MONOJIT_FLAT("load_short_d16_hi", 1, 0, LoadHalf<u16, true>),
    MONOJIT_FLAT("load_dword", 1, 0, LoadWords<1>),
    MONOJIT_FLAT("load_dwordx2", 2, 0, LoadWords<2>),
    MONOJIT_FLAT("load_dwordx3", 3, 0, LoadWords<3>),
    MONOJIT_FLAT("load_dwordx4", 4, 0, LoadWords<4>),
    MONOJIT_FLAT("store_byte", 1, kStores, StoreNarrow<u8>),
    MONOJIT_FLAT("store_byte_d16_hi", 1, kStores, StoreNarrow<u8, true>),
    MONOJIT_FLAT("store_short", 1, kStores, StoreNarrow<u16>),
    MONOJIT_FLAT("store_short_d16_hi", 1, kStores, StoreNarrow<u16, true>),
    MONOJIT_FLAT("store_dword", 1, kStores, StoreWords<1>),
    MONOJIT_FLAT("store_dwordx2", 2, kStores, StoreWords<2>),
    MONOJIT_FLAT("store_dwordx3", 3, kStores, StoreWords<3>),
    MONOJIT_FLAT("store_dwordx4", 4, kStores, StoreWords<4>),
    to_lds<LoadNarrow<u8>, 4>("global_load_lds_ubyte"),
    to_lds<LoadNarrow<i8>, 4>("global_load_lds_sbyte"),
    to_lds<LoadNarrow<u16>, 4>("global_load_lds_ushort"),
    to_lds<LoadNarrow<i16>, 4>("global_load_lds_sshort"),
    to_lds<LoadWords<1>, 4>("global_load_lds_dword"),
    to_lds<LoadWords<3>, 16>("global_load_lds_dwordx3"),
    to_lds<LoadWords<4>, 16>("global_load_lds_dwordx4"),
    MONOJIT_FLAT_ATOMICS("", u32, i32),
    MONOJIT_FLAT_ATOMICS("_x2", u64, i64),
    MONOJIT_FLAT_ATOMIC("add_f32", u32, kMemoryFloatAdd<u32>),
    MONOJIT_FLAT_ATOMIC("add_f64", u64, kMemoryFloatAdd<u64>),
    MONOJIT_FLAT_ATOMIC("min_f64", u64, kMemoryFloatMin<u64>),
    MONOJIT_FLAT_ATOMIC("max_f64", u64, kMemoryFloatMax<u64>),
    MONOJIT_FLAT_ATOMIC("pk_add_f16", u32, kMemoryPackedHalfAdd),
    MONOJIT_FLAT_ATOMIC("pk_add_bf16", u32, kMemoryPackedBrainAdd),
};

#undef MONOJIT_FLAT_ATOMICS
#undef MONOJIT_FLAT_ATOMIC
#undef MONOJIT_FLAT

}  // namespace

std::span<const Entry> flat_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
