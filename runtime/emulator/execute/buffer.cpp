// MUBUF: loads, stores and atomics through a buffer descriptor.
//
// Out of range loads give zero, stores and atomics are dropped (the rule: buffer_address.h). Dword and larger accesses
// must be dword aligned: the chip is said to drop the two low address bits, which no kernel means.
#include <bit>

#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/atomic_access.h"
#include "runtime/emulator/execute/buffer_address.h"
#include "runtime/emulator/execute/control.h"
#include "runtime/emulator/execute/observed_memory.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

template <class Access>
inline constexpr u32 kBufferAlignment = Access::kKind == AccessKind::kAtomic ? Access::kBytes
                                        : Access::kBytes < 4                 ? 1
                                                                             : 4;

template <class Access>
inline constexpr u32 kPartBytes = Access::kBytes / Access::kParts;

/// Which of a lane's parts the range check lets through, a bit each. They are counted as moved.
template <class Access>
u32 parts_in_range(Wave& wave, const MicroOp* op, const Descriptor& buffer, const LanePlace& place, u32 lane) {
  u32 parts = 0;
  for (u32 part = 0; part < Access::kParts; ++part) {
    if (!passes_range_check(wave, buffer, place, part * kPartBytes<Access>, kPartBytes<Access>)) continue;
    const u64 address = place.address + part * kPartBytes<Access>;
    if (address % kBufferAlignment<Access> != 0)
      misaligned_fault(wave, op, Access::kKind, lane, address, Access::kBytes, kBufferAlignment<Access>);
    if (!wave.worker->reachable(address, address + kPartBytes<Access>))
      memory_fault(wave, op, Access::kKind, lane, address, kPartBytes<Access>);
    count_bytes<Access>(*wave.worker, wave.worker->space, kPartBytes<Access>);
    parts |= 1u << part;
  }
  return parts;
}

struct ZeroRow {
  alignas(kRowAlignment) u32 words[kLanes] = {};
};

/// What loads get for the parts that are out of range.
template <class Access>
MONOJIT_EMULATOR_INLINE void zero_others(u32* rows, u32 lane, u32 parts) {
  if constexpr (requires { &Access::zero; }) {
    for (u32 part = 0; part < Access::kParts; ++part)
      if ((parts >> part & 1) == 0) Access::zero(rows, lane, part);
  }
}

/// The same for all parts of the active lanes: a load has a row for each.
template <class Access>
MONOJIT_EMULATOR_INLINE void zero_lanes(u32* rows, u64 exec) {
  if constexpr (Access::kKind == AccessKind::kLoad) {
    static constexpr ZeroRow kZeros;
    for (u32 part = 0; part < Access::kParts; ++part) store_masked(rows + kLanes * part, kZeros.words, exec);
  } else {
    for (u64 lanes = exec; lanes != 0; lanes &= lanes - 1)
      zero_others<Access>(rows, static_cast<u32>(__builtin_ctzll(lanes)), 0);
  }
}

/// The parts of a lane that are in range: a half of 8 bytes in one step, if all of it is.
template <class Access>
MONOJIT_EMULATOR_INLINE bool move_parts(u32* rows, u32 lane, u8* memory, u32 parts) {
  if constexpr (Access::kParts == 1) {
    return parts != 0 && move_lane<Access>(rows, rows, lane, memory);
  } else {
    for (u32 part = 0; part < Access::kParts; ++part) {
      const u32 there = parts >> part & 3;
      u8* const place = memory + part * kPartBytes<Access>;
      if (there == 3 && part % 2 == 0) {
        Access::move_pair(rows, rows, lane, place, part++);
      } else if ((there & 1) != 0) {
        Access::move_part(rows, rows, lane, place, part);
      }
    }
    return Access::kKind == AccessKind::kStore && parts != 0;
  }
}

/// To the request: the bytes of a lane up to the last part that is in range.
template <class Access>
MONOJIT_EMULATOR_INLINE void request_parts(MemoryRequest& request, u32 lane, u64 address, u32 parts) {
  if (parts != 0) add_lane(request, lane, address, static_cast<u32>(std::bit_width(parts)) * kPartBytes<Access>);
}

/// All lanes are behind the end, as kernels have it that look ahead of their data.
template <class Access>
[[gnu::noinline]] void skip_out_of_range(Wave& wave, const MicroOp* op, u64 exec) {
  Worker& worker = *wave.worker;
  worker.out_of_range_buffer_lanes += static_cast<u64>(__builtin_popcountll(exec)) * Access::kParts;
  if (worker.segments != nullptr) worker.segments->count_out_of_range(op);
  zero_lanes<Access>(wave.row(op->dst), exec);
}

/// Lane by lane: partial results, faults that name a lane, structured and swizzled buffers. With a request, lanes go
/// there instead of to memory: as many of their bytes as the range check lets through.
template <class Access>
[[gnu::noinline]] void move_checked(Wave& wave, const MicroOp* op, const Descriptor& buffer, u64 soffset,
                                    const LaneOffsets& at, u64 exec, MemoryRequest* request = nullptr) {
  u32* const rows = wave.row(op->dst);
  bool wrote = false;
  for (u64 lanes = exec; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    const LanePlace place = at.place(buffer, soffset, lane);
    const u32 parts = parts_in_range<Access>(wave, op, buffer, place, lane);
    zero_others<Access>(rows, lane, parts);
    if (request != nullptr) {
      request_parts<Access>(*request, lane, place.address, parts);
    } else {
      wrote |= move_parts<Access>(rows, lane, reinterpret_cast<u8*>(place.address), parts);
    }
  }
  wave.worker->memory_writes += wrote ? 1 : 0;
}

/// dst: data, a: offset row, b: descriptor, c: soffset, imm: offset, aux: flags.
template <class Access, bool kObserved>
void buffer_handler(Wave& wave, const MicroOp* op) {
  const u64 exec = wave.exec();
  if (exec == 0) {
    if constexpr (kObserved) count_operation(wave);
    MONOJIT_EMULATOR_NEXT(wave, op);
  }
  const Descriptor buffer = read_descriptor<false>(wave, op->b);
  const u64 soffset = wave.word(op->c);
  const LaneOffsets at = stage_offsets(wave, op);

  const OffsetRange range = range_of(at.offsets, exec);
  const u64 base = buffer.base + soffset;
  if constexpr (Access::kKind != AccessKind::kStore) wave.last_load = base + range.low;
  const bool simple = at.indices == nullptr && !buffer.swizzled && !buffer.add_thread;
  const bool aligned = ((base | range.bits) & (kBufferAlignment<Access> - 1)) == 0;
  if (simple && buffer.bound && aligned && soffset + range.high + Access::kBytes <= buffer.records &&
      wave.worker->reachable(base + range.low, base + range.high + Access::kBytes)) [[likely]] {
    u32* const rows = wave.row(op->dst);
    count_lanes<Access>(*wave.worker, wave.worker->space, exec);
    if constexpr (kObserved) {
      MONOJIT_EMULATOR_NEXT_UNLESS(observe_range<Access>(wave, op, rows, rows, base, at.offsets, exec), wave, op);
    }
    const bool wrote = move_lanes<Access>(rows, rows, reinterpret_cast<u8*>(base), at.offsets, exec);
    wave.worker->memory_writes += wrote ? 1 : 0;
  } else if (simple && range.low >= buffer.records) {
    skip_out_of_range<Access>(wave, op, exec);
    if constexpr (kObserved) count_operation(wave);
  } else if constexpr (kObserved) {
    move_checked<Access>(wave, op, buffer, soffset, at, exec, &new_request<Access>(wave, op));
    MONOJIT_EMULATOR_NEXT_UNLESS(submit<Access>(wave, op, wave.row(op->dst)), wave, op);
  } else {
    move_checked<Access>(wave, op, buffer, soffset, at, exec);
  }
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// buffer_load ... lds: LDS address = M0[17:0] + offset + lane * stride; out of range lanes write zero.
template <class Access, u32 kStride, bool kObserved>
void buffer_to_lds(Wave& wave, const MicroOp* op) {
  MemoryRequest* request = nullptr;
  if constexpr (kObserved) request = &new_request<Access>(wave, op);
  const Descriptor buffer = read_descriptor<false>(wave, op->b);
  const u64 soffset = wave.word(op->c);
  const LaneOffsets at = stage_offsets(wave, op);
  const u64 lds_base = u64{wave.word(scalar_offset(kM0Word)) & 0x3ffff} + op->imm;
  ++wave.worker->memory_writes;
  u32* const moved = wave.worker->staging[kMovedStaging];
  for (u64 lanes = wave.exec(); lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    const LanePlace place = at.place(buffer, soffset, lane);
    u8* const target = lds_destination(wave, op, lane, lds_base + lane * kStride, Access::kParts * 4);
    const u32 parts = parts_in_range<Access>(wave, op, buffer, place, lane);
    zero_others<Access>(moved, lane, parts);
    if constexpr (kObserved) {
      request_parts<Access>(*request, lane, place.address, parts);
    } else {
      move_parts<Access>(moved, lane, reinterpret_cast<u8*>(place.address), parts);
    }
    const u32 brought_later = kObserved ? parts : 0;
    for (u32 part = 0; part < Access::kParts; ++part)
      if ((brought_later >> part & 1) == 0) store_as(target + part * 4, moved[part * kLanes + lane]);
  }
  if constexpr (kObserved) {
    MONOJIT_EMULATOR_NEXT_UNLESS((submit_to_lds<Access, kStride>(wave, static_cast<u32>(lds_base))), wave, op);
  }
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// kLdsStride: bytes between lanes in LDS of the form that loads there, or 0 if there is none.
template <class Access, u32 kLdsStride = 0>
consteval Entry load(std::string_view mnemonic, u8 rows) {
  Entry entry{.mnemonic = mnemonic,
              .form = Form::kBuffer,
              .count = CountClass::kVectorMemory,
              .data_rows = rows,
              .handlers = {buffer_handler<Access, false>, nullptr, nullptr, nullptr, buffer_handler<Access, true>}};
  if constexpr (kLdsStride != 0) {
    entry.handlers[2] = buffer_to_lds<Access, kLdsStride, false>;
    entry.handlers[2 + kObservedHandlers] = buffer_to_lds<Access, kLdsStride, true>;
  }
  return entry;
}

template <class Access>
consteval Entry store(std::string_view mnemonic, u8 rows) {
  return {.mnemonic = mnemonic,
          .form = Form::kBuffer,
          .flags = kStores,
          .count = CountClass::kVectorMemory,
          .data_rows = rows,
          .handlers = {buffer_handler<Access, false>, nullptr, nullptr, nullptr, buffer_handler<Access, true>}};
}

/// Handler 0 keeps the old value to itself, handler 1 returns it.
template <class T, auto kFunction, bool kCompares = false>
consteval Entry atomic(std::string_view mnemonic) {
  using Quiet = Atomic<T, kFunction, false, kCompares>;
  using Returning = Atomic<T, kFunction, true, kCompares>;
  return {.mnemonic = mnemonic,
          .form = Form::kBuffer,
          .flags = kReturns,
          .count = CountClass::kVectorMemory,
          .data_rows = static_cast<u8>(sizeof(T) / 4 * (kCompares ? 2 : 1)),
          .handlers = {buffer_handler<Quiet, false>, buffer_handler<Returning, false>, nullptr, nullptr,
                       buffer_handler<Quiet, true>, buffer_handler<Returning, true>}};
}

#define MONOJIT_BUFFER_ATOMICS(suffix, u, s)                                              \
  atomic<u, AtomicOperations<u>::kSwap>("buffer_atomic_swap" suffix),                     \
      atomic<u, AtomicOperations<u>::kCompareSwap, true>("buffer_atomic_cmpswap" suffix), \
      atomic<u, AtomicOperations<u>::kAdd>("buffer_atomic_add" suffix),                   \
      atomic<u, AtomicOperations<u>::kSub>("buffer_atomic_sub" suffix),                   \
      atomic<s, AtomicOperations<s>::kMin>("buffer_atomic_smin" suffix),                  \
      atomic<u, AtomicOperations<u>::kMin>("buffer_atomic_umin" suffix),                  \
      atomic<s, AtomicOperations<s>::kMax>("buffer_atomic_smax" suffix),                  \
      atomic<u, AtomicOperations<u>::kMax>("buffer_atomic_umax" suffix),                  \
      atomic<u, AtomicOperations<u>::kAnd>("buffer_atomic_and" suffix),                   \
      atomic<u, AtomicOperations<u>::kOr>("buffer_atomic_or" suffix),                     \
      atomic<u, AtomicOperations<u>::kXor>("buffer_atomic_xor" suffix),                   \
      atomic<u, AtomicOperations<u>::kIncrement>("buffer_atomic_inc" suffix),             \
      atomic<u, AtomicOperations<u>::kDecrement>("buffer_atomic_dec" suffix)

constexpr Entry kEntries[] = {
    load<LoadNarrow<u8>, 4>("buffer_load_ubyte", 1),
    load<LoadNarrow<i8>, 4>("buffer_load_sbyte", 1),
    load<LoadNarrow<u16>, 4>("buffer_load_ushort", 1),
    load<LoadNarrow<i16>, 4>("buffer_load_sshort", 1),
    load<LoadHalf<u8, false>>("buffer_load_ubyte_d16", 1),
    load<LoadHalf<u8, true>>("buffer_load_ubyte_d16_hi", 1),
    load<LoadHalf<i8, false>>("buffer_load_sbyte_d16", 1),
    load<LoadHalf<i8, true>>("buffer_load_sbyte_d16_hi", 1),
    load<LoadHalf<u16, false>>("buffer_load_short_d16", 1),
    load<LoadHalf<u16, true>>("buffer_load_short_d16_hi", 1),
    load<LoadWords<1>, 4>("buffer_load_dword", 1),
    load<LoadWords<2>>("buffer_load_dwordx2", 2),
    load<LoadWords<3>, 16>("buffer_load_dwordx3", 3),
    load<LoadWords<4>, 16>("buffer_load_dwordx4", 4),
    store<StoreNarrow<u8>>("buffer_store_byte", 1),
    store<StoreNarrow<u8, true>>("buffer_store_byte_d16_hi", 1),
    store<StoreNarrow<u16>>("buffer_store_short", 1),
    store<StoreNarrow<u16, true>>("buffer_store_short_d16_hi", 1),
    store<StoreWords<1>>("buffer_store_dword", 1),
    store<StoreWords<2>>("buffer_store_dwordx2", 2),
    store<StoreWords<3>>("buffer_store_dwordx3", 3),
    store<StoreWords<4>>("buffer_store_dwordx4", 4),
    MONOJIT_BUFFER_ATOMICS("", u32, i32),
    MONOJIT_BUFFER_ATOMICS("_x2", u64, i64),
    atomic<u32, kMemoryFloatAdd<u32>>("buffer_atomic_add_f32"),
    atomic<u64, kMemoryFloatAdd<u64>>("buffer_atomic_add_f64"),
    atomic<u64, kMemoryFloatMin<u64>>("buffer_atomic_min_f64"),
    atomic<u64, kMemoryFloatMax<u64>>("buffer_atomic_max_f64"),
    atomic<u32, kMemoryPackedHalfAdd>("buffer_atomic_pk_add_f16"),
    atomic<u32, kMemoryPackedBrainAdd>("buffer_atomic_pk_add_bf16"),
};

#undef MONOJIT_BUFFER_ATOMICS

}  // namespace

std::span<const Entry> buffer_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
