// Half arithmetic of one lane: computed in f32 (or f64 where a product is added to), rounded once.
#pragma once

#include "runtime/emulator/numerics/arithmetic.h"
#include "runtime/emulator/numerics/f16.h"
#include "runtime/emulator/types.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {

/// An f16 as its bits: GCC does not turn loops over _Float16 into vector code.
struct Half {
  u16 bits;
};

MONOJIT_EMULATOR_INLINE u32 half_bits(Half x) { return numerics::decode_f16(x.bits); }
MONOJIT_EMULATOR_INLINE Half half_from_bits(u32 f32) { return {static_cast<u16>(numerics::encode_f16(f32, false))}; }
MONOJIT_EMULATOR_INLINE float widen(Half x) { return numerics::as_float(half_bits(x)); }
MONOJIT_EMULATOR_INLINE Half narrow(float x) { return half_from_bits(numerics::as_bits(x)); }

// f32 has more than twice the significand of Half, so rounding its result again is as good as one rounding.
MONOJIT_EMULATOR_INLINE Half half_add(Half a, Half b) { return narrow(widen(a) + widen(b)); }
MONOJIT_EMULATOR_INLINE Half half_sub(Half a, Half b) { return narrow(widen(a) - widen(b)); }
MONOJIT_EMULATOR_INLINE Half half_mul(Half a, Half b) { return narrow(widen(a) * widen(b)); }

/// A product has 22 bits; with the addend everything that can decide a rounding fits in f64's 53.
MONOJIT_EMULATOR_INLINE Half half_fma(Half a, Half b, Half c) {
  const double sum = static_cast<double>(widen(a)) * static_cast<double>(widen(b)) + static_cast<double>(widen(c));
  // To f32 with round to odd, so that the second rounding sees whether something was cut.
  const float nearest = static_cast<float>(sum);
  u32 bits = __builtin_bit_cast(u32, nearest);
  const bool exact = static_cast<double>(nearest) == sum;
  const bool away = __builtin_fabs(static_cast<double>(nearest)) > __builtin_fabs(sum);
  const u32 odd = (bits - (away ? 1u : 0u)) | 1u;
  bits = exact || !(__builtin_fabs(sum) < 1e30) ? bits : odd;
  return narrow(__builtin_bit_cast(float, bits));
}

MONOJIT_EMULATOR_INLINE Half half_min(Half a, Half b) {
  return half_from_bits(numerics::min_number(half_bits(a), half_bits(b)));
}
MONOJIT_EMULATOR_INLINE Half half_max(Half a, Half b) {
  return half_from_bits(numerics::max_number(half_bits(a), half_bits(b)));
}

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
