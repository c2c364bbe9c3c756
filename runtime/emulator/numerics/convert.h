// f32, f64 and integer conversions with saturation; v_frexp_* and v_ldexp_*.
#pragma once

#include "runtime/emulator/numerics/bits.h"

namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE {

/// v_cvt_i32_f32: towards zero; out of range saturates, NaN gives 0.
MONOJIT_LANE_FUNCTION std::int32_t i32_from_f32(std::uint32_t x) {
  const float value = as_float(x);
  const bool inside = magnitude(x) < 0x4F000000U;  // |x| < 2^31
  const std::int32_t cut = static_cast<std::int32_t>(inside ? value : 0.0F);
  const std::int32_t limit = (x & kF32Sign) != 0 ? INT32_MIN : INT32_MAX;
  return is_nan(x) ? 0 : (inside ? cut : limit);
}

/// v_cvt_u32_f32: towards zero; negative numbers and NaN give 0.
MONOJIT_LANE_FUNCTION std::uint32_t u32_from_f32(std::uint32_t x) {
  const bool positive = x < kF32Sign;
  const bool large = magnitude(x) >= 0x4F000000U;  // from 2^31 on the low word of the value is its shifted mantissa
  const std::uint32_t cut = static_cast<std::uint32_t>(static_cast<std::int32_t>(large ? 0.0F : as_float(x)));
  const std::uint32_t shifted = (x << 8) | 0x80000000U;
  const std::uint32_t upper = magnitude(x) >= 0x4F800000U ? UINT32_MAX : shifted;
  return is_nan(x) | !positive ? 0 : (large ? upper : cut);
}

/// v_cvt_flr_i32_f32: towards minus infinity. v_cvt_rpi_i32_f32: floor(x + 0.5), exactly.
MONOJIT_LANE_FUNCTION std::int32_t floor_i32_from_f32(std::uint32_t x) {
  return i32_from_f32(is_nan(x) ? x : as_bits(__builtin_floorf(as_float(x))));
}

MONOJIT_LANE_FUNCTION std::int32_t nearest_i32_from_f32(std::uint32_t x) {
  const float whole = __builtin_floorf(as_float(x));
  const float rounded = as_float(x) - whole >= 0.5F ? whole + 1.0F : whole;
  return i32_from_f32(is_nan(x) | is_infinite(x) ? x : as_bits(rounded));
}

MONOJIT_LANE_FUNCTION std::uint32_t f32_from_i32(std::int32_t x) { return as_bits(static_cast<float>(x)); }
MONOJIT_LANE_FUNCTION std::uint32_t f32_from_u32(std::uint32_t x) {
  return as_bits(static_cast<float>(static_cast<double>(x)));
}

/// v_cvt_f32_ubyte0..3.
MONOJIT_LANE_FUNCTION std::uint32_t f32_from_byte(std::uint32_t x, unsigned byte) {
  return as_bits(static_cast<float>(static_cast<std::int32_t>((x >> (8 * byte)) & 0xFFU)));
}

/// v_cvt_i32_f64, v_cvt_u32_f64: as from f32.
MONOJIT_LANE_FUNCTION std::int32_t i32_from_f64(std::uint64_t x) {
  const double value = is_nan(x) ? 0.0 : as_double(x);
  const double low = value > -2147483648.0 ? value : -2147483648.0;
  return static_cast<std::int32_t>(low < 2147483647.0 ? low : 2147483647.0);
}

MONOJIT_LANE_FUNCTION std::uint32_t u32_from_f64(std::uint64_t x) {
  const double value = is_nan(x) ? 0.0 : as_double(x);
  const double low = value > 0.0 ? value : 0.0;
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(low < 4294967295.0 ? low : 4294967295.0));
}

MONOJIT_LANE_FUNCTION std::uint64_t f64_from_i32(std::int32_t x) { return as_bits(static_cast<double>(x)); }
MONOJIT_LANE_FUNCTION std::uint64_t f64_from_u32(std::uint32_t x) { return as_bits(static_cast<double>(x)); }
MONOJIT_LANE_FUNCTION std::uint64_t f64_from_f32(std::uint32_t x) { return as_bits(static_cast<double>(as_float(x))); }
MONOJIT_LANE_FUNCTION std::uint32_t f32_from_f64(std::uint64_t x) { return as_bits(static_cast<float>(as_double(x))); }

/// v_frexp_exp_i32_f32: e with |x| = m * 2^e, m in [0.5, 1); 0 for zero, Inf and NaN.
MONOJIT_LANE_FUNCTION std::int32_t frexp_exponent(std::uint32_t x) {
  const bool denormal = is_denormal(x);
  const std::uint32_t normal = denormal ? as_bits(as_float(x) * 0x1p32F) : x;
  const std::int32_t e = static_cast<std::int32_t>(magnitude(normal) >> 23) - 126 - (denormal ? 32 : 0);
  return is_zero(x) | (magnitude(x) >= kF32Infinity) ? 0 : e;
}

MONOJIT_LANE_FUNCTION std::int32_t frexp_exponent(std::uint64_t x) {
  const bool denormal = is_denormal(x);
  const std::uint64_t normal = denormal ? as_bits(as_double(x) * 0x1p64) : x;
  const std::int32_t e = static_cast<std::int32_t>(magnitude(normal) >> 52) - 1022 - (denormal ? 64 : 0);
  return is_zero(x) | (magnitude(x) >= kF64Infinity) ? 0 : e;
}

/// v_frexp_mant: m with its sign; zero and Inf as they are, NaN quietened.
MONOJIT_LANE_FUNCTION std::uint32_t frexp_mantissa(std::uint32_t x) {
  const std::uint32_t normal = is_denormal(x) ? as_bits(as_float(x) * 0x1p32F) : x;
  const std::uint32_t mantissa = (normal & 0x807FFFFFU) | 0x3F000000U;
  const std::uint32_t special = is_nan(x) ? quiet(x) : x;
  return is_zero(x) | (magnitude(x) >= kF32Infinity) ? special : mantissa;
}

MONOJIT_LANE_FUNCTION std::uint64_t frexp_mantissa(std::uint64_t x) {
  const std::uint64_t normal = is_denormal(x) ? as_bits(as_double(x) * 0x1p64) : x;
  const std::uint64_t mantissa = (normal & 0x800FFFFFFFFFFFFFU) | 0x3FE0000000000000U;
  const std::uint64_t special = is_nan(x) ? quiet(x) : x;
  return is_zero(x) | (magnitude(x) >= kF64Infinity) ? special : mantissa;
}

/// v_ldexp_f32: x * 2^exponent with one rounding, denormals kept.
MONOJIT_LANE_FUNCTION std::uint32_t ldexp_f32(std::uint32_t x, std::int32_t exponent) {
  const std::int32_t low = exponent > -300 ? exponent : -300;
  const std::int32_t clamped = low < 300 ? low : 300;
  const double scaled = static_cast<double>(as_float(x)) * power_of_two_f64(clamped);
  return is_nan(x) ? quiet(x) : as_bits(static_cast<float>(scaled));
}

/// v_ldexp_f64. Steps down are 2^-969 at most: a value that a step makes denormal is one the next step turns into zero
/// or, after the last step, one that was rounded only there.
MONOJIT_LANE_FUNCTION std::uint64_t ldexp_f64(std::uint64_t x, std::int32_t exponent) {
  const std::int32_t low = exponent > -2200 ? exponent : -2200;
  std::int32_t rest = low < 2200 ? low : 2200;
  double value = as_double(x);
  for (int step = 0; step < 3; ++step) {
    const std::int32_t capped = rest < 1023 ? rest : 1023;
    const std::int32_t part = capped > -1022 ? capped : -969;
    value *= power_of_two_f64(part);
    rest -= part;
  }
  return is_nan(x) ? quiet(x) : as_bits(value);
}

}  // namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE
