// DS: LDS loads, stores and atomics. Exchanges between lanes that only bear the prefix are in lane_exchange.cpp.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/atomic_access.h"
#include "runtime/emulator/execute/lane_memory.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

/// Micro-op: dst result, a address row, b and c data rows, imm offset0, aux offset1 (both in bytes).
[[gnu::noinline, noreturn]] void report_outside(const Wave& wave, const MicroOp* op, const u32* offsets, u32 bytes) {
  u32 lane = 0;
  for (u64 lanes = wave.exec(); lanes != 0; lanes &= lanes - 1) {
    lane = static_cast<u32>(__builtin_ctzll(lanes));
    if (u64{offsets[lane]} + bytes > wave.lds_bytes) break;
  }
  lds_fault(wave, op, lane, offsets[lane], bytes);
}

template <class Access>
MONOJIT_EMULATOR_INLINE void access_lds(Wave& wave, const MicroOp* op, u32* result, const u32* data, const u32* offsets,
                                        u64 exec) {
  const OffsetRange range = range_of(offsets, exec);
  if (u64{range.high} + Access::kBytes > wave.lds_bytes) [[unlikely]]
    report_outside(wave, op, offsets, Access::kBytes);
  move_lanes<Access>(result, data, wave.lds, offsets, exec);
}

template <class Access>
void lds_handler(Wave& wave, const MicroOp* op) {
  const u64 exec = wave.exec();
  if (exec == 0) MONOJIT_EMULATOR_NEXT(wave, op);
  u32* const offsets = wave.worker->staging[kOffsetStaging];
  const u32* const address = wave.row(op->a);
  for (u32 i = 0; i < kLanes; ++i) offsets[i] = address[i] + op->imm;
  if constexpr (Access::kKind != AccessKind::kLoad) ++wave.worker->memory_writes;
  access_lds<Access>(wave, op, op->dst == kNoOperand ? nullptr : wave.row(op->dst),
                     op->b == kNoOperand ? nullptr : wave.row(op->b), offsets, exec);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// read2 / write2: two accesses of kWords registers each. Both addresses are taken before the first result is written.
template <class Access, u32 kWords>
void lds_pair_handler(Wave& wave, const MicroOp* op) {
  const u64 exec = wave.exec();
  if (exec == 0) MONOJIT_EMULATOR_NEXT(wave, op);
  u32* const first = wave.worker->staging[kOffsetStaging];
  u32* const second = wave.worker->staging[kWideStaging];
  const u32* const address = wave.row(op->a);
  for (u32 i = 0; i < kLanes; ++i) {
    first[i] = address[i] + op->imm;
    second[i] = address[i] + op->aux;
  }
  if constexpr (Access::kKind == AccessKind::kLoad) {
    access_lds<Access>(wave, op, wave.row(op->dst), nullptr, first, exec);
    access_lds<Access>(wave, op, wave.row(op->dst) + kWords * kLanes, nullptr, second, exec);
  } else {
    ++wave.worker->memory_writes;
    access_lds<Access>(wave, op, nullptr, wave.row(op->b), first, exec);
    access_lds<Access>(wave, op, nullptr, wave.row(op->c), second, exec);
  }
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// ds_cmpst_*: compare with the first data operand, store the second; the lowering puts them behind each other,
/// swapped.
template <class T>
inline constexpr auto kCompareStore = [](T old, T data, T compare) { return old == compare ? data : old; };

/// ds_append / ds_consume: the wave adds or subtracts its active lanes to a counter at M0 + offset.
template <bool kAppend>
void count_lanes(Wave& wave, const MicroOp* op) {
  const u64 exec = wave.exec();
  const u32 lanes = static_cast<u32>(__builtin_popcountll(exec));
  const u64 address = u64{wave.word(scalar_offset(kM0Word)) & 0xffff} + op->imm;
  if (address + 4 > wave.lds_bytes) lds_fault(wave, op, 0, address, 4);
  u32* const counter = reinterpret_cast<u32*>(wave.lds + address);
  const u32 old = kAppend ? __atomic_fetch_add(counter, lanes, __ATOMIC_SEQ_CST)
                          : __atomic_fetch_sub(counter, lanes, __ATOMIC_SEQ_CST);
  ++wave.worker->memory_writes;
  for (u64 left = exec; left != 0; left &= left - 1) wave.row(op->dst)[__builtin_ctzll(left)] = old;
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// ds_read_b64_tr_*: each lane reads kWords words; inside each group of 16 lanes the elements of kBits are transposed:
/// lane l's element n is element l % E of lane l / E + n * 16 / E, where a lane holds E elements.
template <u32 kBits, u32 kWords>
void read_transposed(Wave& wave, const MicroOp* op) {
  constexpr u32 kCount = kWords * 32 / kBits;
  constexpr u32 kGroup = 16;
  const u64 exec = wave.exec();
  if (exec == 0) MONOJIT_EMULATOR_NEXT(wave, op);
  u32* const offsets = wave.worker->staging[kOffsetStaging];
  u32* const read = wave.worker->staging[kWideStaging];  // kWords rows
  const u32* const address = wave.row(op->a);
  for (u32 i = 0; i < kLanes; ++i) offsets[i] = address[i] + op->imm;
  for (u32 i = 0; i < kLanes * kWords; ++i) read[i] = 0;
  access_lds<LoadWords<kWords>>(wave, op, read, nullptr, offsets, exec);
  const auto element = [&](u32 lane, u32 index) {
    const u32 bit = index * kBits;
    u64 pair = read[bit / 32 * kLanes + lane];
    if (bit / 32 + 1 < kWords) pair |= u64{read[(bit / 32 + 1) * kLanes + lane]} << 32;
    return pair >> (bit % 32) & ((u64{1} << kBits) - 1);
  };
  u32* const result = wave.row(op->dst);
  for (u64 lanes = exec; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    const u32 in_group = lane % kGroup;
    u128 packed = 0;
    for (u32 i = 0; i < kCount; ++i) {
      const u32 source = lane - in_group + in_group / kCount + i * (kGroup / kCount);
      packed |= u128{element(source, in_group % kCount)} << (i * kBits);
    }
    for (u32 i = 0; i < kWords; ++i) result[i * kLanes + lane] = static_cast<u32>(packed >> (32 * i));
  }
  MONOJIT_EMULATOR_NEXT(wave, op);
}

// offset0/offset1 of pair forms count elements; st64 forms count 64 elements.
constexpr u8 kElement = 1, kElement64 = 64;

consteval Entry lds(std::string_view mnemonic, u8 rows, u16 flags, Handler handler, u8 offset_scale = 0) {
  return {.mnemonic = mnemonic,
          .form = Form::kLds,
          .flags = flags,
          .count = CountClass::kLds,
          .data_rows = rows,
          .offset_scale = offset_scale,
          .handlers = {handler}};
}

template <class T, auto kFunction, bool kCompares = false>
consteval Entry quiet_atomic(std::string_view mnemonic) {
  return lds(mnemonic, sizeof(T) / 4, kStores, lds_handler<Atomic<T, kFunction, false, kCompares>>);
}
template <class T, auto kFunction, bool kCompares = false>
consteval Entry returning_atomic(std::string_view mnemonic) {
  return lds(mnemonic, sizeof(T) / 4, kReturns, lds_handler<Atomic<T, kFunction, true, kCompares>>);
}

#define MONOJIT_LDS_ATOMIC(name, suffix, ...) \
  quiet_atomic<__VA_ARGS__>("ds_" name suffix), returning_atomic<__VA_ARGS__>("ds_" name "_rtn" suffix)

#define MONOJIT_LDS_ATOMICS(b, ui, si, u, s)                               \
  MONOJIT_LDS_ATOMIC("add", ui, u, AtomicOperations<u>::kAdd),             \
      MONOJIT_LDS_ATOMIC("sub", ui, u, AtomicOperations<u>::kSub),         \
      MONOJIT_LDS_ATOMIC("rsub", ui, u, AtomicOperations<u>::kReverseSub), \
      MONOJIT_LDS_ATOMIC("inc", ui, u, AtomicOperations<u>::kIncrement),   \
      MONOJIT_LDS_ATOMIC("dec", ui, u, AtomicOperations<u>::kDecrement),   \
      MONOJIT_LDS_ATOMIC("min", si, s, AtomicOperations<s>::kMin),         \
      MONOJIT_LDS_ATOMIC("max", si, s, AtomicOperations<s>::kMax),         \
      MONOJIT_LDS_ATOMIC("min", ui, u, AtomicOperations<u>::kMin),         \
      MONOJIT_LDS_ATOMIC("max", ui, u, AtomicOperations<u>::kMax),         \
      MONOJIT_LDS_ATOMIC("and", b, u, AtomicOperations<u>::kAnd),          \
      MONOJIT_LDS_ATOMIC("or", b, u, AtomicOperations<u>::kOr),            \
      MONOJIT_LDS_ATOMIC("xor", b, u, AtomicOperations<u>::kXor),          \
      returning_atomic<u, AtomicOperations<u>::kSwap>("ds_wrxchg_rtn" b),  \
      quiet_atomic<u, kCompareStore<u>, true>("ds_cmpst" b),               \
      returning_atomic<u, kCompareStore<u>, true>("ds_cmpst_rtn" b)

constexpr Entry kEntries[] = {
    lds("ds_read_u8", 1, 0, lds_handler<LoadNarrow<u8>>),
    lds("ds_read_i8", 1, 0, lds_handler<LoadNarrow<i8>>),
    lds("ds_read_u16", 1, 0, lds_handler<LoadNarrow<u16>>),
    lds("ds_read_i16", 1, 0, lds_handler<LoadNarrow<i16>>),
    lds("ds_read_u8_d16", 1, 0, lds_handler<LoadHalf<u8, false>>),
    lds("ds_read_u8_d16_hi", 1, 0, lds_handler<LoadHalf<u8, true>>),
    lds("ds_read_i8_d16", 1, 0, lds_handler<LoadHalf<i8, false>>),
    lds("ds_read_i8_d16_hi", 1, 0, lds_handler<LoadHalf<i8, true>>),
    lds("ds_read_u16_d16", 1, 0, lds_handler<LoadHalf<u16, false>>),
    lds("ds_read_u16_d16_hi", 1, 0, lds_handler<LoadHalf<u16, true>>),
    lds("ds_read_b32", 1, 0, lds_handler<LoadWords<1>>),
    lds("ds_read_b64", 2, 0, lds_handler<LoadWords<2>>),
    lds("ds_read_b96", 3, 0, lds_handler<LoadWords<3>>),
    lds("ds_read_b128", 4, 0, lds_handler<LoadWords<4>>),
    lds("ds_read2_b32", 1, 0, lds_pair_handler<LoadWords<1>, 1>, kElement),
    lds("ds_read2_b64", 2, 0, lds_pair_handler<LoadWords<2>, 2>, kElement),
    lds("ds_read2st64_b32", 1, 0, lds_pair_handler<LoadWords<1>, 1>, kElement64),
    lds("ds_read2st64_b64", 2, 0, lds_pair_handler<LoadWords<2>, 2>, kElement64),
    lds("ds_write_b8", 1, kStores, lds_handler<StoreNarrow<u8>>),
    lds("ds_write_b8_d16_hi", 1, kStores, lds_handler<StoreNarrow<u8, true>>),
    lds("ds_write_b16", 1, kStores, lds_handler<StoreNarrow<u16>>),
    lds("ds_write_b16_d16_hi", 1, kStores, lds_handler<StoreNarrow<u16, true>>),
    lds("ds_write_b32", 1, kStores, lds_handler<StoreWords<1>>),
    lds("ds_write_b64", 2, kStores, lds_handler<StoreWords<2>>),
    lds("ds_write_b96", 3, kStores, lds_handler<StoreWords<3>>),
    lds("ds_write_b128", 4, kStores, lds_handler<StoreWords<4>>),
    lds("ds_write2_b32", 1, kStores, lds_pair_handler<StoreWords<1>, 1>, kElement),
    lds("ds_write2_b64", 2, kStores, lds_pair_handler<StoreWords<2>, 2>, kElement),
    lds("ds_write2st64_b32", 1, kStores, lds_pair_handler<StoreWords<1>, 1>, kElement64),
    lds("ds_write2st64_b64", 2, kStores, lds_pair_handler<StoreWords<2>, 2>, kElement64),
    MONOJIT_LDS_ATOMICS("_b32", "_u32", "_i32", u32, i32),
    MONOJIT_LDS_ATOMICS("_b64", "_u64", "_i64", u64, i64),
    MONOJIT_LDS_ATOMIC("add", "_f32", float, kFloatAdd<float>),
    MONOJIT_LDS_ATOMIC("min", "_f32", float, kFloatMin<float>),
    MONOJIT_LDS_ATOMIC("max", "_f32", float, kFloatMax<float>),
    MONOJIT_LDS_ATOMIC("add", "_f64", double, kFloatAdd<double>),
    MONOJIT_LDS_ATOMIC("min", "_f64", double, kFloatMin<double>),
    MONOJIT_LDS_ATOMIC("max", "_f64", double, kFloatMax<double>),
    MONOJIT_LDS_ATOMIC("pk_add", "_f16", u32, kPackedHalfAdd),
    MONOJIT_LDS_ATOMIC("pk_add", "_bf16", u32, kPackedBrainAdd),
    lds("ds_read_b64_tr_b16", 2, 0, read_transposed<16, 2>),
    lds("ds_read_b64_tr_b8", 2, 0, read_transposed<8, 2>),
    lds("ds_read_b64_tr_b4", 2, 0, read_transposed<4, 2>),
    lds("ds_read_b96_tr_b6", 3, 0, read_transposed<6, 3>),
    lds("ds_append", 1, 0, count_lanes<true>),
    lds("ds_consume", 1, 0, count_lanes<false>),
};

#undef MONOJIT_LDS_ATOMICS
#undef MONOJIT_LDS_ATOMIC

}  // namespace

std::span<const Entry> lds_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
