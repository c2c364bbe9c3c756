// MUBUF: loads, stores and atomics through a buffer descriptor.
//
// Range rule (raw buffers): soffset and the access's end count, each dword by itself; with idxen on a strided buffer
// only the index counts. Out of range loads give zero, stores and atomics are dropped.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/atomic_access.h"
#include "runtime/emulator/execute/control.h"
#include "runtime/emulator/execute/lane_memory.h"
#include "runtime/emulator/execute/memory_flags.h"
#include "runtime/emulator/execute/observed_memory.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

struct Descriptor {
  u64 base;
  u32 stride;
  u32 records;
  u32 index_stride;
  bool swizzled;
  bool add_thread;
  bool bound;
};

MONOJIT_EMULATOR_INLINE Descriptor read_descriptor(Wave& wave, u32 offset) {
  const u64 low = wave.pair(offset);
  const u32 flags = wave.word(offset + 12);
  return {.base = low & 0xffffffffffff,
          .stride = static_cast<u32>(low >> 48) & 0x3fff,
          .records = wave.word(offset + 8),
          .index_stride = 8u << (flags >> 21 & 3),
          .swizzled = low >> 63 != 0,
          .add_thread = (flags >> 23 & 1) != 0,
          .bound = (flags >> 15 & 15) != 0};
}

/// One lane's place in a buffer: the address, and how far the range check lets it go.
struct LanePlace {
  u64 address;
  u64 offset;  ///< what is compared with `limit`
  u64 limit;
};

MONOJIT_EMULATOR_INLINE LanePlace place_of(const Descriptor& buffer, u64 soffset, u32 index, u32 offset, bool indexed) {
  const bool structured = indexed && buffer.stride != 0;
  u64 inside = u64{buffer.stride} * index + offset;
  if (buffer.swizzled && buffer.stride != 0) {
    constexpr u64 kElement = 4;
    const u64 major = index / buffer.index_stride, minor = index % buffer.index_stride;
    inside = (major * buffer.stride + offset / kElement * kElement) * buffer.index_stride + minor * kElement +
             offset % kElement;
  }
  if (structured) return {buffer.base + soffset + inside, index, u64{buffer.records}};
  return {buffer.base + soffset + inside, soffset + inside, u64{buffer.records}};
}

template <class Access>
MONOJIT_EMULATOR_INLINE void move_part(u32* rows, u32 lane, u8* memory, u32 part) {
  if constexpr (Access::kParts == 1) {
    Access::move(rows, rows, lane, memory);
  } else {
    Access::move_part(rows, rows, lane, memory, part);
  }
}

/// Lane by lane and dword by dword: partial results, faults that name a lane, structured and swizzled buffers.
/// With a request, lanes go there instead of to memory: as many of their bytes as the range check lets through.
template <class Access>
[[gnu::noinline]] void move_checked(Wave& wave, const MicroOp* op, const Descriptor& buffer, u64 soffset, u64 exec,
                                    MemoryRequest* request = nullptr) {
  constexpr u32 kPartBytes = Access::kBytes / Access::kParts;
  u32* const rows = wave.row(op->dst);
  const bool indexed = (op->aux & kIndexEnable) != 0;
  const u32* const indices = indexed ? wave.worker->staging[kWideStaging] : nullptr;
  const u32* const offsets = wave.worker->staging[kOffsetStaging];
  for (u64 lanes = exec; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    const u32 index = (indexed ? indices[lane] : 0) + (buffer.add_thread ? lane : 0);
    const LanePlace place = place_of(buffer, soffset, index, offsets[lane], indexed);
    const bool structured = indexed && buffer.stride != 0;
    for (u32 part = 0; part < Access::kParts; ++part) {
      const u64 end = structured ? place.offset + 1 : place.offset + (part + 1) * kPartBytes;
      const u64 address = place.address + part * kPartBytes;
      if (!buffer.bound || (!buffer.add_thread && end > place.limit)) {
        ++wave.worker->out_of_range_buffer_lanes;
        if constexpr (requires { &Access::zero; }) Access::zero(rows, lane, part);
        continue;
      }
      if (!wave.worker->reachable(address, address + kPartBytes)) {
        memory_fault(wave, op, Access::kKind, lane, address, kPartBytes);
      }
      if (request != nullptr) {
        add_lane(*request, lane, place.address, (part + 1) * kPartBytes);
      } else {
        move_part<Access>(rows, lane, reinterpret_cast<u8*>(address), part);
      }
    }
  }
}

/// dst: data, a: offset row, b: descriptor, c: soffset, imm: offset, aux: flags.
template <class Access, bool kObserved>
void buffer_handler(Wave& wave, const MicroOp* op) {
  const u64 exec = wave.exec();
  if (exec == 0) {
    if constexpr (kObserved) count_operation(wave);
    MONOJIT_EMULATOR_NEXT(wave, op);
  }
  const Descriptor buffer = read_descriptor(wave, op->b);
  const u64 soffset = wave.word(op->c);
  u32* const offsets = wave.worker->staging[kOffsetStaging];
  const bool indexed = (op->aux & kIndexEnable) != 0;
  if ((op->aux & kOffsetEnable) != 0) {
    const u32* const row = wave.row(op->a + (indexed ? kRowBytes : 0));
    for (u32 i = 0; i < kLanes; ++i) offsets[i] = row[i] + op->imm;
  } else {
    for (u32 i = 0; i < kLanes; ++i) offsets[i] = op->imm;
  }
  if (indexed) std::memcpy(wave.worker->staging[kWideStaging], wave.row(op->a), kRowBytes);
  if constexpr (Access::kKind != AccessKind::kLoad) ++wave.worker->memory_writes;

  const OffsetRange range = range_of(offsets, exec);
  const u64 base = buffer.base + soffset;
  if constexpr (Access::kKind == AccessKind::kLoad) wave.last_load = base + range.low;
  const bool simple = !indexed && !buffer.swizzled && !buffer.add_thread && buffer.bound;
  if (simple && soffset + range.high + Access::kBytes <= buffer.records &&
      wave.worker->reachable(base + range.low, base + range.high + Access::kBytes)) [[likely]] {
    u32* const rows = wave.row(op->dst);
    if constexpr (kObserved) {
      MONOJIT_EMULATOR_NEXT_UNLESS(observe_range<Access>(wave, op, rows, rows, base, offsets, exec), wave, op);
    }
    move_lanes<Access>(rows, rows, reinterpret_cast<u8*>(base), offsets, exec);
  } else if constexpr (kObserved) {
    move_checked<Access>(wave, op, buffer, soffset, exec, &new_request<Access>(wave, op));
    MONOJIT_EMULATOR_NEXT_UNLESS(submit<Access>(wave, op, wave.row(op->dst)), wave, op);
  } else {
    move_checked<Access>(wave, op, buffer, soffset, exec);
  }
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// buffer_load ... lds: LDS address = M0[17:0] + offset + lane * stride; out of range lanes write zero.
template <u32 kWords, bool kObserved>
void buffer_to_lds(Wave& wave, const MicroOp* op) {
  constexpr u32 kStride = kWords == 1 ? 4 : 16;
  MemoryRequest* request = nullptr;
  if constexpr (kObserved) request = &new_request<LoadWords<kWords>>(wave, op);
  const Descriptor buffer = read_descriptor(wave, op->b);
  const u64 soffset = wave.word(op->c);
  const bool indexed = (op->aux & kIndexEnable) != 0;
  const u32 lds_base = (wave.word(scalar_offset(kM0Word)) & 0x3ffff) + op->imm;
  ++wave.worker->memory_writes;
  for (u64 lanes = wave.exec(); lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    const u32 index = (indexed ? wave.row(op->a)[lane] : 0) + (buffer.add_thread ? lane : 0);
    const u32 offset =
        op->imm + ((op->aux & kOffsetEnable) != 0 ? wave.row(op->a + (indexed ? kRowBytes : 0))[lane] : 0);
    const LanePlace place = place_of(buffer, soffset, index, offset, indexed);
    const bool structured = indexed && buffer.stride != 0;
    const u64 target = u64{lds_base} + lane * kStride;
    if (target + kWords * 4 > wave.lds_bytes) lds_fault(wave, op, lane, target, kWords * 4);
    for (u32 part = 0; part < kWords; ++part) {
      const u64 end = structured ? place.offset + 1 : place.offset + (part + 1) * 4;
      const u64 address = place.address + part * 4;
      u32 word = 0;
      if (buffer.bound && (buffer.add_thread || end <= place.limit)) {
        if (!wave.worker->reachable(address, address + 4)) memory_fault(wave, op, AccessKind::kLoad, lane, address, 4);
        if (kObserved) {
          add_lane(*request, lane, place.address, (part + 1) * 4);
          continue;
        }
        word = load_as<u32>(reinterpret_cast<const u8*>(address));
      }
      store_as(wave.lds + target + part * 4, word);
    }
  }
  if constexpr (kObserved) {
    MONOJIT_EMULATOR_NEXT_UNLESS((submit_to_lds<LoadWords<kWords>, kStride>(wave, lds_base)), wave, op);
  }
  MONOJIT_EMULATOR_NEXT(wave, op);
}

template <class Access>
consteval Entry load(std::string_view mnemonic, u8 rows, Handler to_lds = nullptr, Handler observed_to_lds = nullptr) {
  return {.mnemonic = mnemonic,
          .form = Form::kBuffer,
          .count = CountClass::kVectorMemory,
          .data_rows = rows,
          .handlers = {buffer_handler<Access, false>, nullptr, to_lds, nullptr, buffer_handler<Access, true>, nullptr,
                       observed_to_lds}};
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
    load<LoadNarrow<u8>>("buffer_load_ubyte", 1),
    load<LoadNarrow<i8>>("buffer_load_sbyte", 1),
    load<LoadNarrow<u16>>("buffer_load_ushort", 1),
    load<LoadNarrow<i16>>("buffer_load_sshort", 1),
    load<LoadHalf<u8, false>>("buffer_load_ubyte_d16", 1),
    load<LoadHalf<u8, true>>("buffer_load_ubyte_d16_hi", 1),
    load<LoadHalf<i8, false>>("buffer_load_sbyte_d16", 1),
    load<LoadHalf<i8, true>>("buffer_load_sbyte_d16_hi", 1),
    load<LoadHalf<u16, false>>("buffer_load_short_d16", 1),
    load<LoadHalf<u16, true>>("buffer_load_short_d16_hi", 1),
    load<LoadWords<1>>("buffer_load_dword", 1, buffer_to_lds<1, false>, buffer_to_lds<1, true>),
    load<LoadWords<2>>("buffer_load_dwordx2", 2),
    load<LoadWords<3>>("buffer_load_dwordx3", 3, buffer_to_lds<3, false>, buffer_to_lds<3, true>),
    load<LoadWords<4>>("buffer_load_dwordx4", 4, buffer_to_lds<4, false>, buffer_to_lds<4, true>),
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
    atomic<float, kFloatAdd<float>>("buffer_atomic_add_f32"),
    atomic<double, kFloatAdd<double>>("buffer_atomic_add_f64"),
    atomic<double, kFloatMin<double>>("buffer_atomic_min_f64"),
    atomic<double, kFloatMax<double>>("buffer_atomic_max_f64"),
    atomic<u32, kPackedHalfAdd>("buffer_atomic_pk_add_f16"),
    atomic<u32, kPackedBrainAdd>("buffer_atomic_pk_add_bf16"),
};

#undef MONOJIT_BUFFER_ATOMICS

}  // namespace

std::span<const Entry> buffer_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
