// DS: LDS atomics. Lanes go in rising order. Floating point follows MODE's denormal bits (f64 additions keep them) and
// is always rounded to nearest. An atomic's address must be a multiple of its size.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/atomic_access.h"
#include "runtime/emulator/execute/lane_memory.h"
#include "runtime/emulator/execute/lds_entry.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

/// What MODE says of denormals: f32 has bits 4 and 5, f16 and f64 have 6 and 7. A set bit keeps them.
MONOJIT_EMULATOR_INLINE Denormals denormals_of(const Wave& wave, u32 shift) {
  const u32 bits = wave.mode >> shift;
  return {.flush_inputs = (bits & 1) == 0, .flush_result = (bits & 2) == 0};
}

/// kFunction(old, data [, second]) is what LDS becomes; kShift: the MODE bits that it takes besides, or 0 for none.
template <class T, auto kFunction, u32 kOperands, u32 kShift>
MONOJIT_EMULATOR_INLINE T update(const Wave& wave, T old, T data, [[maybe_unused]] T second) {
  if constexpr (kShift != 0) {
    const Denormals denormals = denormals_of(wave, kShift);
    if constexpr (kOperands == 2) {
      return static_cast<T>(kFunction(old, data, second, denormals));
    } else {
      return static_cast<T>(kFunction(old, data, denormals));
    }
  } else if constexpr (kOperands == 2) {
    return static_cast<T>(kFunction(old, data, second));
  } else {
    return static_cast<T>(kFunction(old, data));
  }
}

/// The place of a lane's atomic in LDS.
template <class T>
MONOJIT_EMULATOR_INLINE u8* atomic_place(Wave& wave, const MicroOp* op, u32 lane, u64 address) {
  if (address + sizeof(T) > wave.lds_bytes) lds_fault(wave, op, lane, address, sizeof(T));
  if (address % sizeof(T) != 0) misaligned_lds_fault(op, AccessKind::kAtomic, lane, address, sizeof(T), sizeof(T));
  return wave.lds + address;
}

/// Counts lanes' atomics of so many bytes in all, and what they leave changed.
MONOJIT_EMULATOR_INLINE void count_atomics(Worker& worker, u64 bytes, bool returns, bool wrote) {
  constexpr u32 kSpace = static_cast<u32>(MemorySpace::kLds);
  worker.bytes.stored[kSpace] += bytes;
  if (returns) worker.bytes.loaded[kSpace] += bytes;
  worker.memory_writes += wrote ? 1 : 0;
}
MONOJIT_EMULATOR_INLINE u64 active_lanes(const Wave& wave) {
  return static_cast<u64>(__builtin_popcountll(wave.exec()));
}

/// Micro-op: dst result or kNoOperand, a address row, b and c data rows, imm offset.
template <class T, auto kFunction, u32 kOperands, u32 kShift>
void atomic_handler(Wave& wave, const MicroOp* op) {
  const u32* const address = wave.row(op->a);
  const u32* const data = wave.row(op->b);
  const u32* const second = kOperands == 2 ? wave.row(op->c) : nullptr;
  u32* const result = op->dst == kNoOperand ? nullptr : wave.row(op->dst);
  bool wrote = false;
  for (u64 lanes = wave.exec(); lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    u8* const place = atomic_place<T>(wave, op, lane, u64{address[lane] + op->imm});
    const T old = load_as<T>(place);
    const T other = kOperands == 2 ? gather_lane<T>(second, lane) : T{};
    const T next = update<T, kFunction, kOperands, kShift>(wave, old, gather_lane<T>(data, lane), other);
    store_as(place, next);
    wrote |= next != old;
    if (result != nullptr) scatter_lane(result, lane, old);
  }
  count_atomics(*wave.worker, active_lanes(wave) * sizeof(T), result != nullptr, wrote);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// ds_wrxchg2_*: two exchanges, the second one at the second offset (aux).
template <class T>
void exchange_pair_handler(Wave& wave, const MicroOp* op) {
  constexpr u32 kWords = sizeof(T) / 4;
  const u32* const address = wave.row(op->a);
  u32* const result = wave.row(op->dst);
  bool wrote = false;
  for (u64 lanes = wave.exec(); lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    const u32 at = address[lane];
    const T data[2] = {gather_lane<T>(wave.row(op->b), lane), gather_lane<T>(wave.row(op->c), lane)};
    for (u32 i = 0; i < 2; ++i) {
      u8* const place = atomic_place<T>(wave, op, lane, u64{at + (i == 0 ? op->imm : op->aux)});
      const T old = load_as<T>(place);
      scatter_lane(result + i * kWords * kLanes, lane, old);
      store_as(place, data[i]);
      wrote |= data[i] != old;
    }
  }
  count_atomics(*wave.worker, active_lanes(wave) * 2 * sizeof(T), true, wrote);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// ds_condxchg32_rtn_b64: of two words in a row, each is replaced where the data's sign bit is set, without that bit.
void exchange_signed_handler(Wave& wave, const MicroOp* op) {
  const u32* const address = wave.row(op->a);
  const u32* const data = wave.row(op->b);
  u32* const result = wave.row(op->dst);
  bool wrote = false;
  for (u64 lanes = wave.exec(); lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    u8* const place = atomic_place<u64>(wave, op, lane, u64{(address[lane] + op->imm) & ~7u});
    const u64 old = load_as<u64>(place), fresh = gather_lane<u64>(data, lane);
    constexpr u64 kLowSign = u64{1} << 31, kHighSign = u64{1} << 63, kLowWord = 0xffffffff;
    u64 next = old;
    if ((fresh & kLowSign) != 0) next = (next & ~kLowWord) | (fresh & (kLowSign - 1));
    if ((fresh & kHighSign) != 0) next = (next & kLowWord) | (fresh & ~kHighSign & ~kLowWord);
    store_as(place, next);
    wrote |= next != old;
    scatter_lane(result, lane, old);
  }
  count_atomics(*wave.worker, active_lanes(wave) * sizeof(u64), true, wrote);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// ds_append / ds_consume: the wave adds or subtracts its active lanes to a counter at M0 + offset.
template <bool kAppend>
void count_handler(Wave& wave, const MicroOp* op) {
  const u64 exec = wave.exec();
  const u32 lanes = static_cast<u32>(__builtin_popcountll(exec));
  u8* const counter = atomic_place<u32>(wave, op, 0, u64{wave.word(scalar_offset(kM0Word)) & 0xffff} + op->imm);
  const u32 old = load_as<u32>(counter);
  store_as(counter, kAppend ? old + lanes : old - lanes);
  count_atomics(*wave.worker, sizeof(u32), true, lanes != 0);
  for (u64 left = exec; left != 0; left &= left - 1) wave.row(op->dst)[__builtin_ctzll(left)] = old;
  MONOJIT_EMULATOR_NEXT(wave, op);
}

constexpr u32 kNoMode = 0;
constexpr u32 kMode32 = kModeDenormal32Shift, kMode64 = kModeDenormal64Shift;

template <class T>
constexpr auto kMaskedOr = [](T old, T mask, T data) { return (old & ~mask) | data; };
template <class T>
constexpr auto kCompareStore = [](T old, T compare, T data) { return old == compare ? data : old; };
constexpr auto kWrap = [](u32 old, u32 subtrahend, u32 addend) {
  return old >= subtrahend ? old - subtrahend : old + addend;
};
template <class T>
constexpr auto kFloatCompareStore =
    [](T old, T compare, T data, Denormals denormals) { return compare_store_float(old, data, compare, denormals); };
template <class T>
constexpr auto kFloatAdd = [](T old, T data, Denormals denormals) { return add_floats(old, data, denormals); };
constexpr auto kKeepingAdd = [](u64 old, u64 data) { return add_floats(old, data, {}); };
template <class T>
constexpr auto kFloatMin = [](T old, T data, Denormals denormals) { return select_float<false>(old, data, denormals); };
template <class T>
constexpr auto kFloatMax = [](T old, T data, Denormals denormals) { return select_float<true>(old, data, denormals); };
constexpr auto kPackedHalfAdd = [](u32 old, u32 data, Denormals denormals) {
  return add_packed_f16(old, data, denormals);
};
constexpr auto kPackedBrainAdd = [](u32 old, u32 data, Denormals denormals) {
  return add_packed_bf16(old, data, denormals);
};

template <class T, auto kFunction, u32 kOperands = 1, u32 kShift = kNoMode>
consteval Entry quiet(std::string_view mnemonic) {
  return lds(mnemonic, sizeof(T) / 4, kStores, atomic_handler<T, kFunction, kOperands, kShift>);
}
template <class T, auto kFunction, u32 kOperands = 1, u32 kShift = kNoMode>
consteval Entry returning(std::string_view mnemonic) {
  return lds(mnemonic, sizeof(T) / 4, kReturns, atomic_handler<T, kFunction, kOperands, kShift>);
}

#define MONOJIT_LDS_ATOMIC(name, suffix, ...) \
  quiet<__VA_ARGS__>("ds_" name suffix), returning<__VA_ARGS__>("ds_" name "_rtn" suffix)

#define MONOJIT_LDS_ATOMICS(b, ui, si, u, s)                                                                          \
  MONOJIT_LDS_ATOMIC("add", ui, u, AtomicOperations<u>::kAdd),                                                        \
      MONOJIT_LDS_ATOMIC("sub", ui, u, AtomicOperations<u>::kSub),                                                    \
      MONOJIT_LDS_ATOMIC("rsub", ui, u, AtomicOperations<u>::kReverseSub),                                            \
      MONOJIT_LDS_ATOMIC("inc", ui, u, AtomicOperations<u>::kIncrement),                                              \
      MONOJIT_LDS_ATOMIC("dec", ui, u, AtomicOperations<u>::kDecrement),                                              \
      MONOJIT_LDS_ATOMIC("min", si, s, AtomicOperations<s>::kMin),                                                    \
      MONOJIT_LDS_ATOMIC("max", si, s, AtomicOperations<s>::kMax),                                                    \
      MONOJIT_LDS_ATOMIC("min", ui, u, AtomicOperations<u>::kMin),                                                    \
      MONOJIT_LDS_ATOMIC("max", ui, u, AtomicOperations<u>::kMax),                                                    \
      MONOJIT_LDS_ATOMIC("and", b, u, AtomicOperations<u>::kAnd),                                                     \
      MONOJIT_LDS_ATOMIC("or", b, u, AtomicOperations<u>::kOr),                                                       \
      MONOJIT_LDS_ATOMIC("xor", b, u, AtomicOperations<u>::kXor), MONOJIT_LDS_ATOMIC("mskor", b, u, kMaskedOr<u>, 2), \
      MONOJIT_LDS_ATOMIC("cmpst", b, u, kCompareStore<u>, 2),                                                         \
      returning<u, AtomicOperations<u>::kSwap>("ds_wrxchg_rtn" b)

// offset0/offset1 of pair forms count elements; st64 forms count 64 elements.
constexpr u8 kElement = 1, kElement64 = 64;

constexpr Entry kEntries[] = {
    MONOJIT_LDS_ATOMICS("_b32", "_u32", "_i32", u32, i32),
    MONOJIT_LDS_ATOMICS("_b64", "_u64", "_i64", u64, i64),
    MONOJIT_LDS_ATOMIC("add", "_f32", u32, kFloatAdd<u32>, 1, kMode32),
    MONOJIT_LDS_ATOMIC("min", "_f32", u32, kFloatMin<u32>, 1, kMode32),
    MONOJIT_LDS_ATOMIC("max", "_f32", u32, kFloatMax<u32>, 1, kMode32),
    MONOJIT_LDS_ATOMIC("cmpst", "_f32", u32, kFloatCompareStore<u32>, 2, kMode32),
    MONOJIT_LDS_ATOMIC("add", "_f64", u64, kKeepingAdd),
    MONOJIT_LDS_ATOMIC("min", "_f64", u64, kFloatMin<u64>, 1, kMode64),
    MONOJIT_LDS_ATOMIC("max", "_f64", u64, kFloatMax<u64>, 1, kMode64),
    MONOJIT_LDS_ATOMIC("cmpst", "_f64", u64, kFloatCompareStore<u64>, 2, kMode64),
    MONOJIT_LDS_ATOMIC("pk_add", "_f16", u32, kPackedHalfAdd, 1, kMode64),
    MONOJIT_LDS_ATOMIC("pk_add", "_bf16", u32, kPackedBrainAdd, 1, kMode64),
    returning<u32, kWrap, 2>("ds_wrap_rtn_b32"),
    lds("ds_wrxchg2_rtn_b32", 1, kReturns, exchange_pair_handler<u32>, kElement),
    lds("ds_wrxchg2_rtn_b64", 2, kReturns, exchange_pair_handler<u64>, kElement),
    lds("ds_wrxchg2st64_rtn_b32", 1, kReturns, exchange_pair_handler<u32>, kElement64),
    lds("ds_wrxchg2st64_rtn_b64", 2, kReturns, exchange_pair_handler<u64>, kElement64),
    lds("ds_condxchg32_rtn_b64", 2, kReturns, exchange_signed_handler),
    lds("ds_append", 1, 0, count_handler<true>),
    lds("ds_consume", 1, 0, count_handler<false>),
};

#undef MONOJIT_LDS_ATOMICS
#undef MONOJIT_LDS_ATOMIC

}  // namespace

std::span<const Entry> lds_atomic_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
