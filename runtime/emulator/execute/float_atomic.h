// Floating-point atomics of one lane, on bit patterns: always nearest even; what happens to denormals is the memory's
// choice (L2: fixed for each type; LDS: MODE). A NaN comes back quietened, memory's before the instruction's.
#pragma once

#include <type_traits>

#include <immintrin.h>

#include "runtime/emulator/execute/mode.h"
#include "runtime/emulator/numerics/bf16.h"
#include "runtime/emulator/numerics/f16.h"
#include "runtime/emulator/types.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {

struct Denormals {
  bool flush_inputs = false;
  bool flush_result = false;
};

/// f(old, data) with the host's floating point as the atomics want it, whatever the wave's MODE has made of it.
template <class Bits, class Function>
MONOJIT_EMULATOR_INLINE Bits in_default_mode(Bits old, Bits data, Function f) {
  constexpr u32 kStickyFlags = 0x3f;
  const u32 saved = _mm_getcsr();
  if ((saved & ~kStickyFlags) == kHostModeDefault) return f(old, data);
  _mm_setcsr(kHostModeDefault);
  // The compiler does not know that arithmetic depends on the control register: these keep it in between.
  asm volatile("" : "+r"(old), "+r"(data));
  Bits result = f(old, data);
  asm volatile("" : "+r"(result));
  _mm_setcsr(saved);
  return result;
}

template <class Bits>
MONOJIT_EMULATOR_INLINE Bits sum_of_floats(Bits old, Bits data, Denormals denormals) {
  using Float = std::conditional_t<sizeof(Bits) == 8, double, float>;
  constexpr Bits kNaN = sizeof(Bits) == 8 ? static_cast<Bits>(numerics::kF64NaN) : Bits{numerics::kF32NaN};
  if (denormals.flush_inputs) old = numerics::flush_denormal(old), data = numerics::flush_denormal(data);
  if (numerics::is_nan(old)) return numerics::quiet(old);
  if (numerics::is_nan(data)) return numerics::quiet(data);
  const Float sum = __builtin_bit_cast(Float, old) + __builtin_bit_cast(Float, data);
  const Bits bits = __builtin_bit_cast(Bits, sum);
  if (numerics::is_nan(bits)) return kNaN;
  return denormals.flush_result ? numerics::flush_denormal(bits) : bits;
}

/// Where a value stands in the order -inf .. -0, +0 .. +inf.
template <class Bits>
MONOJIT_EMULATOR_INLINE auto rank_of(Bits bits) {
  using Signed = std::conditional_t<sizeof(Bits) == 8, i64, i32>;
  const auto value = static_cast<Signed>(bits);
  return value < 0 ? static_cast<Signed>(~value) ^ static_cast<Signed>(Bits{1} << (sizeof(Bits) * 8 - 1)) : value;
}

/// kLargest: the maximum, else the minimum. A signalling NaN wins, a quiet one loses. Flushing is for the comparison
/// only: the result is one of the two as it was.
template <bool kLargest, class Bits>
MONOJIT_EMULATOR_INLINE Bits select_float(Bits old, Bits data, Denormals denormals) {
  if (numerics::is_signaling(old)) return numerics::quiet(old);
  if (numerics::is_signaling(data)) return numerics::quiet(data);
  if (numerics::is_nan(data)) return old;
  if (numerics::is_nan(old)) return data;
  const auto mine = rank_of(denormals.flush_inputs ? numerics::flush_denormal(data) : data);
  const auto theirs = rank_of(denormals.flush_inputs ? numerics::flush_denormal(old) : old);
  return (kLargest ? mine > theirs : mine < theirs) ? data : old;
}

/// Stores if memory equals `compare` as a number: zeros of either sign are equal, a NaN equals nothing.
template <class Bits>
MONOJIT_EMULATOR_INLINE Bits compare_store_float(Bits old, Bits data, Bits compare, Denormals denormals) {
  const auto seen = [&](Bits bits) { return denormals.flush_inputs ? numerics::flush_denormal(bits) : bits; };
  const Bits memory = seen(old), wanted = seen(compare);
  const bool nan = numerics::is_nan(memory) || numerics::is_nan(wanted);
  const bool zeros = numerics::is_zero(memory) && numerics::is_zero(wanted);
  return seen(!nan && (zeros || memory == wanted) ? data : old);
}

MONOJIT_EMULATOR_INLINE u32 sum_of_f16(u32 old, u32 data, Denormals denormals) {
  constexpr u32 kSmallestNormal = 0x38800000;  // 2^-14 as f32
  const auto flushed = [](u32 f32) {
    return numerics::magnitude(f32) < kSmallestNormal ? f32 & numerics::kF32Sign : f32;
  };
  u32 x = numerics::decode_f16(old), y = numerics::decode_f16(data);
  if (denormals.flush_inputs) x = flushed(x), y = flushed(y);
  // f32 has more than twice the significand: rounding its sum again is as good as one rounding.
  const u32 sum = sum_of_floats(x, y, {});
  constexpr u32 kHalfMagnitude = 0x7fff, kHalfSmallestNormal = 0x0400, kHalfSign = 0x8000;
  const u32 half = numerics::encode_f16(sum, false);
  return denormals.flush_result && (half & kHalfMagnitude) < kHalfSmallestNormal ? half & kHalfSign : half;
}

MONOJIT_EMULATOR_INLINE u32 sum_of_bf16(u32 old, u32 data, Denormals denormals) {
  const u32 sum = sum_of_floats(old << 16, data << 16, {denormals.flush_inputs, false});
  const u32 brain = numerics::encode_bf16(sum);
  constexpr u32 kMagnitude = 0x7fff, kSmallestNormal = 0x0080, kSign = 0x8000;
  return denormals.flush_result && (brain & kMagnitude) < kSmallestNormal ? brain & kSign : brain;
}

template <class Bits>
MONOJIT_EMULATOR_INLINE Bits add_floats(Bits old, Bits data, Denormals denormals) {
  return in_default_mode(old, data, [&](Bits x, Bits y) { return sum_of_floats(x, y, denormals); });
}

// Two independent 16-bit additions.
MONOJIT_EMULATOR_INLINE u32 add_packed_f16(u32 old, u32 data, Denormals denormals) {
  return in_default_mode(old, data, [&](u32 x, u32 y) {
    return sum_of_f16(x & 0xffff, y & 0xffff, denormals) | sum_of_f16(x >> 16, y >> 16, denormals) << 16;
  });
}
MONOJIT_EMULATOR_INLINE u32 add_packed_bf16(u32 old, u32 data, Denormals denormals) {
  return in_default_mode(old, data, [&](u32 x, u32 y) {
    return sum_of_bf16(x & 0xffff, y & 0xffff, denormals) | sum_of_bf16(x >> 16, y >> 16, denormals) << 16;
  });
}

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
