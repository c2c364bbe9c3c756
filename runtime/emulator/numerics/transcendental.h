// v_rcp, v_rsq, v_sqrt, v_exp, v_log, v_sin, v_cos. The chip promises 1 ulp and flushes f32 denormals on both sides;
// bits within the ulp are not public. Here rcp, rsq and sqrt are correctly rounded, the others are computed in double
// with fixed polynomials (relative error below 2^-36, then one rounding), so every host gives the same bits.
#pragma once

#include "runtime/emulator/numerics/bits.h"

namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE {

/// The NaN that an invalid operation makes, with the sign that AMD documents for log2 and sqrt of negative numbers.
inline constexpr std::uint32_t kF32InvalidNaN = 0xFFC00000U;
inline constexpr std::uint64_t kF64InvalidNaN = 0xFFF8000000000000U;

/// Rounds a double result to f32, denormals flushed.
MONOJIT_LANE_FUNCTION std::uint32_t rounded_and_flushed(double value) {
  return flush_denormal(as_bits(static_cast<float>(value)));
}

/// v_rcp_f32, v_rcp_iflag_f32.
MONOJIT_LANE_FUNCTION std::uint32_t rcp_f32(std::uint32_t x) {
  const std::uint32_t in = flush_denormal(x);
  const std::uint32_t result = rounded_and_flushed(1.0 / static_cast<double>(as_float(in)));
  return is_nan(x) ? quiet(x) : result;
}

/// v_sqrt_f32.
MONOJIT_LANE_FUNCTION std::uint32_t sqrt_f32(std::uint32_t x) {
  const std::uint32_t in = flush_denormal(x);
  const bool negative = (in > kF32Sign) & !is_nan(x);
  const std::uint32_t result =
      rounded_and_flushed(__builtin_sqrt(static_cast<double>(as_float(select(negative, 0U, in)))));
  return select(is_nan(x), quiet(x), select(negative, kF32InvalidNaN, result));
}

/// v_rsq_f32.
MONOJIT_LANE_FUNCTION std::uint32_t rsq_f32(std::uint32_t x) {
  const std::uint32_t in = flush_denormal(x);
  const bool negative = (in > kF32Sign) & !is_nan(x);
  const double root = __builtin_sqrt(static_cast<double>(as_float(select(negative, 0U, in))));
  const std::uint32_t result = rounded_and_flushed(1.0 / root);
  return select(is_nan(x), quiet(x), select(negative, kF32InvalidNaN, result));
}

/// v_exp_f32: 2^x.
MONOJIT_LANE_FUNCTION std::uint32_t exp2_f32(std::uint32_t x) {
  const float in = as_float(flush_denormal(x));
  const float clamped = in > 129.0F ? 129.0F : (in > -151.0F ? in : -151.0F);  // a NaN ends up here as -151
  const double value = static_cast<double>(clamped);
  const double whole = __builtin_rint(value);
  const double z = (value - whole) * 0.6931471805599453;  // ln 2, |z| <= 0.3466
  double p = 1.0 / 362880;
  p = p * z + 1.0 / 40320;
  p = p * z + 1.0 / 5040;
  p = p * z + 1.0 / 720;
  p = p * z + 1.0 / 120;
  p = p * z + 1.0 / 24;
  p = p * z + 1.0 / 6;
  p = p * z + 0.5;
  p = p * z + 1.0;
  p = p * z + 1.0;
  // The integer lands in the low mantissa bits of whole + 1.5*2^52, from where it is added to p's exponent field.
  const std::uint64_t exponent = as_bits(whole + 6755399441055744.0) << 52;
  const std::uint32_t result = rounded_and_flushed(as_double(as_bits(p) + exponent));
  return is_nan(x) ? quiet(x) : result;
}

/// v_log_f32: log2(x).
MONOJIT_LANE_FUNCTION std::uint32_t log2_f32(std::uint32_t x) {
  const std::uint32_t in = flush_denormal(x);
  // Splits in = 2^e * m with m in [0.70710, 1.41420].
  constexpr std::uint32_t kSqrtHalf = 0x3F3504F3U;
  const std::uint32_t shifted = in - kSqrtHalf;
  const std::int32_t e = static_cast<std::int32_t>(shifted) >> 23;
  const double m = static_cast<double>(as_float((shifted & 0x007FFFFFU) + kSqrtHalf));
  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  double p = 1.0 / 15;
  p = p * s2 + 1.0 / 13;
  p = p * s2 + 1.0 / 11;
  p = p * s2 + 1.0 / 9;
  p = p * s2 + 1.0 / 7;
  p = p * s2 + 1.0 / 5;
  p = p * s2 + 1.0 / 3;
  p = p * s2 + 1.0;
  const double log = static_cast<double>(e) + s * p * 2.8853900817779268;  // 2 / ln 2
  const std::uint32_t finite = rounded_and_flushed(log);
  const std::uint32_t up_to_infinity = select(in == kF32Infinity, kF32Infinity, finite);
  const std::uint32_t positive = select(magnitude(in) == 0, kF32Sign | kF32Infinity, up_to_infinity);
  return select(is_nan(x), quiet(x), select(in > kF32Sign, kF32InvalidNaN, positive));
}

/// sin(2 pi r) of |r| <= 0.5.
MONOJIT_LANE_FUNCTION double sine_of_turns(double r) {
  const double half = r < 0.0 ? -0.5 : 0.5;
  const double folded = __builtin_fabs(r) > 0.25 ? half - r : r;
  const double t = folded * 6.283185307179586;  // 2 pi
  const double t2 = t * t;
  double p = 1.0 / 355687428096000.0;
  p = p * t2 - 1.0 / 1307674368000.0;
  p = p * t2 + 1.0 / 6227020800.0;
  p = p * t2 - 1.0 / 39916800.0;
  p = p * t2 + 1.0 / 362880;
  p = p * t2 - 1.0 / 5040;
  p = p * t2 + 1.0 / 120;
  p = p * t2 - 1.0 / 6;
  return t + t * t2 * p;
}

/// What v_sin and v_cos make of an argument outside [-256, 256]: sin 0, cos 1; NaN for Inf.
MONOJIT_LANE_FUNCTION std::uint32_t finish_turns(std::uint32_t x, double value, std::uint32_t outside) {
  const std::uint32_t limited = select(magnitude(x) > 0x43800000U, outside, rounded_and_flushed(value));
  return select(is_nan(x), quiet(x), select(is_infinite(x), kF32InvalidNaN, limited));
}

/// v_sin_f32: the argument is in turns.
MONOJIT_LANE_FUNCTION std::uint32_t sin_f32(std::uint32_t x) {
  const std::uint32_t in = flush_denormal(select(magnitude(x) > 0x43800000U, x & kF32Sign, x));
  const double turns = static_cast<double>(as_float(in));
  return finish_turns(x, sine_of_turns(turns - __builtin_rint(turns)), 0);
}

/// v_cos_f32.
MONOJIT_LANE_FUNCTION std::uint32_t cos_f32(std::uint32_t x) {
  const std::uint32_t in = flush_denormal(select(magnitude(x) > 0x43800000U, 0U, magnitude(x)));
  const double turns = static_cast<double>(as_float(in));
  const double quarter_on = turns - __builtin_rint(turns) + 0.25;
  return finish_turns(x, sine_of_turns(quarter_on - __builtin_rint(quarter_on)), 0x3F800000U);
}

/// v_rcp_f64: correctly rounded here (the chip's is an estimate that the compiler refines); denormals are kept.
MONOJIT_LANE_FUNCTION std::uint64_t rcp_f64(std::uint64_t x) {
  const std::uint64_t result = as_bits(1.0 / as_double(x));
  return is_nan(x) ? quiet(x) : result;
}

/// v_sqrt_f64.
MONOJIT_LANE_FUNCTION std::uint64_t sqrt_f64(std::uint64_t x) {
  const bool negative = (x > kF64Sign) & !is_nan(x);
  const std::uint64_t result = as_bits(__builtin_sqrt(as_double(select(negative, std::uint64_t{0}, x))));
  return select(is_nan(x), quiet(x), select(negative, kF64InvalidNaN, result));
}

/// v_rsq_f64: within 1 ulp (two roundings).
MONOJIT_LANE_FUNCTION std::uint64_t rsq_f64(std::uint64_t x) {
  const bool negative = (x > kF64Sign) & !is_nan(x);
  const std::uint64_t result = as_bits(1.0 / __builtin_sqrt(as_double(select(negative, std::uint64_t{0}, x))));
  return select(is_nan(x), quiet(x), select(negative, kF64InvalidNaN, result));
}

/// v_mul_legacy_f32: zero times anything is +0, NaN and Inf included.
MONOJIT_LANE_FUNCTION std::uint32_t mul_legacy_f32(std::uint32_t x, std::uint32_t y) {
  const std::uint32_t product = as_bits(as_float(x) * as_float(y));
  return is_zero(x) | is_zero(y) ? 0 : product;
}

}  // namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE
