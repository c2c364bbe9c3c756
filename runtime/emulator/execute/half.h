// Half arithmetic of one lane: computed in f32 (or f64 where a product is added to), rounded once, when the result is
// stored.
#pragma once

#include "runtime/emulator/execute/lane_mode.h"
#include "runtime/emulator/numerics/arithmetic.h"
#include "runtime/emulator/numerics/f16.h"
#include "runtime/emulator/types.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {

/// An f16 as its bits: GCC does not turn loops over _Float16 into vector code.
struct Half {
  u16 bits;
};

/// A result on its way to a Half: an f32 that MODE's rounding of f16 makes one of. Rounded to odd where the f32 itself
/// is not exact.
struct HalfResult {
  float value;
};

/// Both halves of a register, and the results for both.
struct HalfPair {
  u32 bits;
  [[nodiscard]] MONOJIT_EMULATOR_INLINE Half low() const { return {static_cast<u16>(bits)}; }
  [[nodiscard]] MONOJIT_EMULATOR_INLINE Half high() const { return {static_cast<u16>(bits >> 16)}; }
};
struct HalfPairResult {
  HalfResult low, high;
};

MONOJIT_EMULATOR_INLINE u32 half_bits(Half x) { return numerics::decode_f16(x.bits); }
MONOJIT_EMULATOR_INLINE float widen(Half x) { return numerics::as_float(half_bits(x)); }
MONOJIT_EMULATOR_INLINE HalfResult half_from_bits(u32 f32) { return {numerics::as_float(f32)}; }

/// The same value as f32 bits, a signalling NaN still signalling.
MONOJIT_EMULATOR_INLINE u32 exact_half_bits(Half x) { return numerics::decode_f16_exactly(x.bits); }

// f32 has more than twice the significand of Half, so rounding its result again is as good as one rounding.
MONOJIT_EMULATOR_INLINE HalfResult half_add(Half a, Half b) { return {widen(a) + widen(b)}; }
MONOJIT_EMULATOR_INLINE HalfResult half_sub(Half a, Half b) { return {widen(a) - widen(b)}; }
MONOJIT_EMULATOR_INLINE HalfResult half_mul(Half a, Half b) { return {widen(a) * widen(b)}; }

/// A product has 22 bits; with the addend everything that can decide a rounding fits in f64's 53.
MONOJIT_EMULATOR_INLINE HalfResult half_fma(Half a, Half b, Half c) {
  const double sum = static_cast<double>(widen(a)) * static_cast<double>(widen(b)) + static_cast<double>(widen(c));
  // To f32 with round to odd, so that the second rounding sees whether something was cut.
  const float nearest = static_cast<float>(sum);
  u32 bits = __builtin_bit_cast(u32, nearest);
  const bool exact = static_cast<double>(nearest) == sum;
  const bool away = __builtin_fabs(static_cast<double>(nearest)) > __builtin_fabs(sum);
  const u32 odd = (bits - (away ? 1u : 0u)) | 1u;
  bits = exact || !(__builtin_fabs(sum) < 1e30) ? bits : odd;
  return {__builtin_bit_cast(float, bits)};
}

/// The Half that a result is stored as.
MONOJIT_EMULATOR_INLINE Half rounded(HalfResult x, Mode mode) {
  return {static_cast<u16>(
      numerics::encode_f16(numerics::as_bits(x.value), mode.round16, mode.fp16_ovfl, mode.flush_out16))};
}
/// With MODE as compilers leave it: code that vectorises.
MONOJIT_EMULATOR_INLINE Half rounded_plainly(HalfResult x) {
  return {static_cast<u16>(numerics::encode_f16(numerics::as_bits(x.value), false))};
}

/// v_mad_f16 and its kin round the product too.
MONOJIT_EMULATOR_INLINE HalfResult half_mad(Half a, Half b, Half c, Mode mode) {
  return half_add(mode.plain ? rounded_plainly(half_mul(a, b)) : rounded(half_mul(a, b), mode), c);
}

MONOJIT_EMULATOR_INLINE HalfResult half_min(Half a, Half b, Mode mode) {
  return half_from_bits(numerics::min_number(exact_half_bits(a), exact_half_bits(b), mode.ieee));
}
MONOJIT_EMULATOR_INLINE HalfResult half_max(Half a, Half b, Mode mode) {
  return half_from_bits(numerics::max_number(exact_half_bits(a), exact_half_bits(b), mode.ieee));
}

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
