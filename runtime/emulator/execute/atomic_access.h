// Atomic read-modify-write of one lane. Lanes go in rising order; other host threads see each as one step.
#pragma once

#include "runtime/emulator/execute/access.h"
#include "runtime/emulator/execute/float_atomic.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {

template <class T>
MONOJIT_EMULATOR_INLINE T gather_lane(const u32* rows, u32 lane) {
  if constexpr (sizeof(T) == 8) {
    return __builtin_bit_cast(T, u64{rows[lane]} | u64{rows[kLanes + lane]} << 32);
  } else {
    return __builtin_bit_cast(T, rows[lane]);
  }
}

template <class T>
MONOJIT_EMULATOR_INLINE void scatter_lane(u32* rows, u32 lane, T value) {
  if constexpr (sizeof(T) == 8) {
    const u64 bits = __builtin_bit_cast(u64, value);
    rows[lane] = static_cast<u32>(bits);
    rows[kLanes + lane] = static_cast<u32>(bits >> 32);
  } else {
    rows[lane] = __builtin_bit_cast(u32, value);
  }
}

/// kFunction(old, data) is what memory becomes. Compare-and-swap has two data values, taken as (swap, compare).
template <class T, auto kFunction, bool kReturns, bool kCompares = false>
struct Atomic {
  using Word = std::conditional_t<sizeof(T) == 8, u64, u32>;
  static constexpr u32 kBytes = sizeof(T);
  static constexpr u32 kParts = 1;
  static constexpr AccessKind kKind = AccessKind::kAtomic;
  static constexpr bool kReturnsOld = kReturns;

  /// False: memory is what it was.
  MONOJIT_EMULATOR_INLINE static bool move(u32* result, const u32* data, u32 lane, u8* memory) {
    Word* const word = reinterpret_cast<Word*>(memory);
    const T operand = gather_lane<T>(data, lane);
    Word old = __atomic_load_n(word, __ATOMIC_RELAXED);
    Word next;
    do {
      if constexpr (kCompares) {
        const T compare = gather_lane<T>(data + kLanes * (sizeof(T) / 4), lane);
        next = __builtin_bit_cast(Word, kFunction(__builtin_bit_cast(T, old), operand, compare));
      } else {
        next = __builtin_bit_cast(Word, kFunction(__builtin_bit_cast(T, old), operand));
      }
    } while (!__atomic_compare_exchange_n(word, &old, next, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    if constexpr (kReturns) scatter_lane(result, lane, __builtin_bit_cast(T, old));
    return next != old;
  }
  MONOJIT_EMULATOR_INLINE static void zero(u32* result, u32 lane, u32) {
    if constexpr (kReturns) scatter_lane(result, lane, T{});
  }
};

// The integer operations that FLAT, GLOBAL, MUBUF and DS share.
template <class T>
struct AtomicOperations {
  static constexpr auto kSwap = [](T, T data) { return data; };
  static constexpr auto kCompareSwap = [](T old, T data, T compare) { return old == compare ? data : old; };
  static constexpr auto kAdd = [](T old, T data) { return static_cast<T>(old + data); };
  static constexpr auto kSub = [](T old, T data) { return static_cast<T>(old - data); };
  static constexpr auto kReverseSub = [](T old, T data) { return static_cast<T>(data - old); };
  static constexpr auto kMin = [](T old, T data) { return data < old ? data : old; };
  static constexpr auto kMax = [](T old, T data) { return data > old ? data : old; };
  static constexpr auto kAnd = [](T old, T data) { return old & data; };
  static constexpr auto kOr = [](T old, T data) { return old | data; };
  static constexpr auto kXor = [](T old, T data) { return old ^ data; };
  static constexpr auto kIncrement = [](T old, T limit) { return old >= limit ? T{0} : static_cast<T>(old + 1); };
  static constexpr auto kDecrement = [](T old, T limit) {
    return old == 0 || old > limit ? limit : static_cast<T>(old - 1);
  };
};

// Floating point in L2, on bit patterns: f32 additions flush denormal inputs, nothing else is flushed.
template <class Bits>
inline constexpr auto kMemoryFloatAdd =
    [](Bits old, Bits data) { return add_floats(old, data, {.flush_inputs = sizeof(Bits) == 4}); };
template <class Bits>
inline constexpr auto kMemoryFloatMin = [](Bits old, Bits data) { return select_float<false>(old, data, {}); };
template <class Bits>
inline constexpr auto kMemoryFloatMax = [](Bits old, Bits data) { return select_float<true>(old, data, {}); };
inline constexpr auto kMemoryPackedHalfAdd = [](u32 old, u32 data) { return add_packed_f16(old, data, {}); };
inline constexpr auto kMemoryPackedBrainAdd = [](u32 old, u32 data) { return add_packed_bf16(old, data, {}); };

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
