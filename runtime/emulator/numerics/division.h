// The instructions of the compiler's IEEE division: v_div_scale, v_div_fmas, v_div_fixup. Each step alone is only
// partly documented; together with a correctly rounded v_rcp they give correctly rounded quotients, denormals included.
#pragma once

#include "runtime/emulator/numerics/bits.h"

namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE {

template <class Bits>
struct DivisionFormat;

template <>
struct DivisionFormat<std::uint32_t> {
  static constexpr int kMantissaBits = 23;
  static constexpr std::int32_t kExponentMask = 0xFF;
  static constexpr std::int32_t kBias = 127;
  static constexpr int kScale = 64;            // div_scale and div_fmas move exponents by this much
  static constexpr int kLargeDifference = 96;  // exponent difference from which the quotient may overflow on its way
  static constexpr int kTinyNumerator = 23;
  static constexpr int kUnderflow = -150;  // exponent difference below which the quotient is zero
};

template <>
struct DivisionFormat<std::uint64_t> {
  static constexpr int kMantissaBits = 52;
  static constexpr std::int32_t kExponentMask = 0x7FF;
  static constexpr std::int32_t kBias = 1023;
  static constexpr int kScale = 128;
  static constexpr int kLargeDifference = 768;
  static constexpr int kTinyNumerator = 53;
  static constexpr int kUnderflow = -1075;
};

template <class Bits>
MONOJIT_LANE_FUNCTION constexpr std::int32_t encoded_exponent(Bits x) {
  return static_cast<std::int32_t>(x >> DivisionFormat<Bits>::kMantissaBits) & DivisionFormat<Bits>::kExponentMask;
}

MONOJIT_LANE_FUNCTION std::uint32_t multiply(std::uint32_t x, std::uint32_t y) {
  return as_bits(as_float(x) * as_float(y));
}
MONOJIT_LANE_FUNCTION std::uint64_t multiply(std::uint64_t x, std::uint64_t y) {
  return as_bits(as_double(x) * as_double(y));
}
MONOJIT_LANE_FUNCTION std::uint32_t divide(std::uint32_t x, std::uint32_t y) {
  return as_bits(as_float(x) / as_float(y));
}
MONOJIT_LANE_FUNCTION std::uint64_t divide(std::uint64_t x, std::uint64_t y) {
  return as_bits(as_double(x) / as_double(y));
}
MONOJIT_LANE_FUNCTION std::uint32_t fused_multiply_add(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return as_bits(__builtin_fmaf(as_float(x), as_float(y), as_float(z)));
}
MONOJIT_LANE_FUNCTION std::uint64_t fused_multiply_add(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  return as_bits(__builtin_fma(as_double(x), as_double(y), as_double(z)));
}

/// 2^power for a power inside the format's normal range.
template <class Bits>
MONOJIT_LANE_FUNCTION constexpr Bits power_of_two(int power) {
  return static_cast<Bits>(power + DivisionFormat<Bits>::kBias) << DivisionFormat<Bits>::kMantissaBits;
}

template <class Bits>
struct DivScaleResult {
  Bits value;
  bool vcc;  ///< div_fmas must undo a scaling
};

/// v_div_scale: `source` is the numerator or the denominator, whichever is to be scaled.
template <class Bits>
MONOJIT_LANE_FUNCTION DivScaleResult<Bits> div_scale(Bits source, Bits denominator, Bits numerator) {
  using Format = DivisionFormat<Bits>;
  constexpr Bits kUp = power_of_two<Bits>(Format::kScale);
  constexpr Bits kDown = power_of_two<Bits>(-Format::kScale);
  constexpr Bits kOne = power_of_two<Bits>(0);
  const Bits smallest_normal = static_cast<Bits>(1) << Format::kMantissaBits;
  const bool of_denominator = source == denominator;
  const bool of_numerator = source == numerator;

  const bool invalid = is_zero(numerator) | is_zero(denominator);
  const bool large = encoded_exponent(numerator) - encoded_exponent(denominator) >= Format::kLargeDifference;
  const bool denormal_denominator = is_denormal(denominator);
  const bool small_inverse = magnitude(divide(kOne, denominator)) < smallest_normal;
  const bool small_quotient = magnitude(divide(numerator, denominator)) < smallest_normal;
  const bool tiny_numerator = encoded_exponent(numerator) <= Format::kTinyNumerator;

  // Which way this source is scaled in each of the documented cases; the first that holds decides.
  const Bits when_tiny = tiny_numerator ? kUp : kOne;
  const Bits when_small_quotient = of_numerator ? kUp : kOne;
  const Bits when_both_small = of_denominator ? kDown : kOne;
  const Bits when_large = of_denominator ? kUp : kOne;
  const Bits by_quotient = small_quotient ? when_small_quotient : when_tiny;
  const Bits by_inverse = small_inverse ? (small_quotient ? when_both_small : kDown) : by_quotient;
  const Bits by_denominator = denormal_denominator ? kUp : by_inverse;
  const Bits factor = large ? when_large : by_denominator;

  const bool vcc = (!invalid) & (large | (!denormal_denominator & small_quotient));
  const Bits nan = static_cast<Bits>(Format::kExponentMask) << Format::kMantissaBits | smallest_normal >> 1;
  return {invalid ? nan : multiply(source, factor), vcc};
}

/// x + y rounded to odd: exact, or the neighbour with the last bit set. Rounding that once more, to 51 bits or fewer,
/// is as good as one rounding of the exact sum.
MONOJIT_LANE_FUNCTION double add_to_odd(double x, double y) {
  const double sum = x + y;
  const double y_part = sum - x;
  const double error = (x - (sum - y_part)) + (y - y_part);
  const std::uint64_t bits = as_bits(sum);
  const std::uint64_t away = (as_bits(error) ^ bits) >> 63;  // 1: the exact sum is closer to zero
  const std::uint64_t adjust = static_cast<std::uint64_t>(error != 0.0) & ~bits & 1U;
  return as_double(bits + (1 - 2 * away) * adjust);
}

/// 2^±kScale as div_fmas applies it: none without VCC, up when z's exponent is above the bias.
template <class Bits>
MONOJIT_LANE_FUNCTION int div_fmas_scale(Bits z, bool vcc) {
  using Format = DivisionFormat<Bits>;
  const int up = static_cast<int>(encoded_exponent(z) > Format::kBias);
  return (2 * up - 1) * Format::kScale * static_cast<int>(vcc);
}

/// v_div_fmas_f32: (x*y + z) * 2^±64 with one rounding.
MONOJIT_LANE_FUNCTION std::uint32_t div_fmas(std::uint32_t x, std::uint32_t y, std::uint32_t z, bool vcc) {
  const double product = static_cast<double>(as_float(x)) * static_cast<double>(as_float(y));
  const double sum = add_to_odd(product, static_cast<double>(as_float(z)));
  return as_bits(static_cast<float>(sum * power_of_two_f64(div_fmas_scale(z, vcc))));
}

/// The sign of what x*y + z loses by rounding to `sum`: negative, zero or positive.
MONOJIT_LANE_FUNCTION double fused_error(double x, double y, double z, double sum) {
  const double product = x * y;
  const double product_rest = __builtin_fma(x, y, -product);
  const double b = z + product_rest;
  const double b_part = b - z;
  const double b_rest = (z - (b - b_part)) + (product_rest - b_part);
  const double c = product + b;
  const double c_part = c - product;
  const double c_rest = (product - (c - c_part)) + (b - c_part);
  return ((c - sum) + c_rest) + b_rest;
}

/// v_div_fmas_f64: scaled by 2^±128. Only a denormal result is rounded by the scaling; a tie there is decided by what
/// the sum itself had lost.
MONOJIT_LANE_FUNCTION std::uint64_t div_fmas(std::uint64_t x, std::uint64_t y, std::uint64_t z, bool vcc) {
  const double sum = __builtin_fma(as_double(x), as_double(y), as_double(z));
  const int scale = div_fmas_scale(z, vcc);
  const double scaled = sum * power_of_two_f64(scale);
  const double lost = sum - scaled * power_of_two_f64(-scale);
  const double error = fused_error(as_double(x), as_double(y), as_double(z), sum);
  const bool tie = (scale < 0) & (__builtin_fabs(lost) == 0x1p-947);  // half of 2^-1074 * 2^128
  const bool move = tie & (error != 0.0) & ((lost > 0.0) == (error > 0.0));
  const std::uint64_t outwards = (lost > 0.0) == (sum > 0.0) ? 1 : ~std::uint64_t{0};
  return as_bits(scaled) + (move ? outwards : 0);
}

/// v_div_fixup: special cases around the computed quotient.
template <class Bits>
MONOJIT_LANE_FUNCTION Bits div_fixup(Bits quotient, Bits denominator, Bits numerator) {
  using Format = DivisionFormat<Bits>;
  const Bits infinity = static_cast<Bits>(Format::kExponentMask) << Format::kMantissaBits;
  const Bits sign = (numerator ^ denominator) & ~(~static_cast<Bits>(0) >> 1);
  const Bits invalid = ~(~static_cast<Bits>(0) >> 1) | infinity | static_cast<Bits>(1) << (Format::kMantissaBits - 1);

  const bool no_estimate = magnitude(quotient) >= infinity;
  const bool underflow = encoded_exponent(numerator) - encoded_exponent(denominator) < Format::kUnderflow;
  const bool zero = is_infinite(denominator) | is_zero(numerator) | underflow;
  const bool infinite = is_zero(denominator) | is_infinite(numerator) | no_estimate;
  const bool no_value =
      (is_zero(denominator) & is_zero(numerator)) | (is_infinite(denominator) & is_infinite(numerator));

  const Bits finite = sign | magnitude(quotient);
  const Bits by_denominator = is_zero(denominator) | is_infinite(numerator) ? sign | infinity : (zero ? sign : finite);
  const Bits number = infinite & !zero ? sign | infinity : by_denominator;
  const Bits checked = no_value ? invalid : number;
  return is_nan(numerator) ? quiet(numerator) : (is_nan(denominator) ? quiet(denominator) : checked);
}

}  // namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE
