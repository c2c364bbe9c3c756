#include "tests/emulator/numerics_lanes.h"

#include "runtime/emulator/numerics/arithmetic.h"
#include "runtime/emulator/numerics/convert.h"
#include "runtime/emulator/numerics/division.h"
#include "runtime/emulator/numerics/mx.h"
#include "runtime/emulator/numerics/transcendental.h"

namespace monojit::emulator::numerics_test::MONOJIT_HOST_ISA_NAMESPACE {

using namespace numerics;  // NOLINT(google-build-using-namespace): the functions under test

// The lane's operands are x, y, z.
#define LANE(expression)                                                                \
  [](Row& d, const Row& a, const Row& b, const Row& c, bool flag) {                     \
    for (int i = 0; i < kLanes; ++i) {                                                  \
      [[maybe_unused]] const std::uint32_t x = a.lane[i], y = b.lane[i], z = c.lane[i]; \
      (void)flag;                                                                       \
      d.lane[i] = static_cast<std::uint32_t>(expression);                               \
    }                                                                                   \
  }
#define WIDE(expression)                                                                \
  [](WideRow& d, const WideRow& a, const WideRow& b, const WideRow& c, bool flag) {     \
    for (int i = 0; i < kLanes; ++i) {                                                  \
      [[maybe_unused]] const std::uint64_t x = a.lane[i], y = b.lane[i], z = c.lane[i]; \
      (void)flag;                                                                       \
      d.lane[i] = static_cast<std::uint64_t>(expression);                               \
    }                                                                                   \
  }

namespace {

/// The compiler's f32 division (fdiv with denormals kept): LLVM's instruction sequence.
MONOJIT_LANE_FUNCTION std::uint32_t divide_as_compiled(std::uint32_t numerator, std::uint32_t denominator) {
  constexpr std::uint32_t kOne = 0x3F800000U;
  const auto scaled_denominator = div_scale(denominator, denominator, numerator);
  const auto scaled_numerator = div_scale(numerator, denominator, numerator);
  const std::uint32_t minus_d = scaled_denominator.value ^ kF32Sign;
  const std::uint32_t r0 = rcp_f32(scaled_denominator.value);
  const std::uint32_t r = fused_multiply_add(fused_multiply_add(minus_d, r0, kOne), r0, r0);
  const std::uint32_t q0 = multiply(scaled_numerator.value, r);
  const std::uint32_t q = fused_multiply_add(fused_multiply_add(minus_d, q0, scaled_numerator.value), r, q0);
  const std::uint32_t rest = fused_multiply_add(minus_d, q, scaled_numerator.value);
  return div_fixup(div_fmas(rest, r, q, scaled_numerator.vcc), denominator, numerator);
}

/// The same for f64: two refinements of the reciprocal, one of the quotient.
MONOJIT_LANE_FUNCTION std::uint64_t divide_as_compiled(std::uint64_t numerator, std::uint64_t denominator) {
  constexpr std::uint64_t kOne = 0x3FF0000000000000U;
  const auto scaled_denominator = div_scale(denominator, denominator, numerator);
  const auto scaled_numerator = div_scale(numerator, denominator, numerator);
  const std::uint64_t minus_d = scaled_denominator.value ^ kF64Sign;
  std::uint64_t r = rcp_f64(scaled_denominator.value);
  r = fused_multiply_add(r, fused_multiply_add(minus_d, r, kOne), r);
  r = fused_multiply_add(r, fused_multiply_add(minus_d, r, kOne), r);
  const std::uint64_t q = multiply(scaled_numerator.value, r);
  const std::uint64_t rest = fused_multiply_add(minus_d, q, scaled_numerator.value);
  return div_fixup(div_fmas(rest, r, q, scaled_numerator.vcc), denominator, numerator);
}

constexpr LaneTable kTable = {
    .decode_e4m3 = LANE(decode_fp8<Fp8::kE4M3>(x)),
    .decode_e5m2 = LANE(decode_fp8<Fp8::kE5M2>(x)),
    .decode_e4m3_fnuz = LANE(decode_fp8<Fp8::kE4M3Fnuz>(x)),
    .decode_e5m2_fnuz = LANE(decode_fp8<Fp8::kE5M2Fnuz>(x)),
    .encode_e4m3 = LANE(encode_fp8<Fp8::kE4M3>(x, flag)),
    .encode_e5m2 = LANE(encode_fp8<Fp8::kE5M2>(x, flag)),
    .encode_e4m3_fnuz = LANE(encode_fp8<Fp8::kE4M3Fnuz>(x, flag)),
    .encode_e5m2_fnuz = LANE(encode_fp8<Fp8::kE5M2Fnuz>(x, flag)),
    .stochastic_e4m3 = LANE(encode_fp8_stochastic<Fp8::kE4M3>(x, y, flag)),
    .stochastic_e5m2 = LANE(encode_fp8_stochastic<Fp8::kE5M2>(x, y, flag)),
    .stochastic_e4m3_fnuz = LANE(encode_fp8_stochastic<Fp8::kE4M3Fnuz>(x, y, flag)),
    .stochastic_e5m2_fnuz = LANE(encode_fp8_stochastic<Fp8::kE5M2Fnuz>(x, y, flag)),
    .fp8_pair = LANE(insert_half(z, encode_fp8_pair<Fp8::kE4M3>(x, y, false), flag ? 1 : 0)),
    .decode_e2m1 = LANE(decode_saturating<kFormatE2M1>(x)),
    .decode_e2m3 = LANE(decode_saturating<kFormatE2M3>(x)),
    .decode_e3m2 = LANE(decode_saturating<kFormatE3M2>(x)),
    .encode_e2m1 = LANE(encode_saturating<kFormatE2M1>(x)),
    .encode_e2m3 = LANE(encode_saturating<kFormatE2M3>(x)),
    .encode_e3m2 = LANE(encode_saturating<kFormatE3M2>(x)),
    .stochastic_e2m1 = LANE(encode_saturating_stochastic<kFormatE2M1>(x, y)),
    .unscaled = LANE(unscaled(x, y)),
    .scaled = LANE(scaled(x, y)),
    .fp4_pair = LANE(scaled_fp4_pair(x, y, z)),
    .fp4_pair_stochastic = LANE(scaled_fp4_pair_stochastic(x, x, y, z)),
    .prng = LANE(prng_step(x)),
    .decode_bf16 = LANE(decode_bf16(x)),
    .encode_bf16 = LANE(encode_bf16(x)),
    .decode_f16 = LANE(decode_f16(x)),
    .encode_f16 = LANE(encode_f16(x, flag)),
    .encode_f16_towards_zero = LANE(encode_f16_towards_zero(x)),
    .dot2_bf16 = LANE(dot2_f32_bf16(x, y, z)),
    .dot2c_bf16 = LANE(dot2c_f32_bf16(x, y, z)),
    .dot2_f16 = LANE(dot2_f32_f16(x, y, z)),
    .rcp = LANE(rcp_f32(x)),
    .rsq = LANE(rsq_f32(x)),
    .sqrt = LANE(sqrt_f32(x)),
    .exp2 = LANE(exp2_f32(x)),
    .log2 = LANE(log2_f32(x)),
    .sin = LANE(sin_f32(x)),
    .cos = LANE(cos_f32(x)),
    .mul_legacy = LANE(mul_legacy_f32(x, y)),
    .div_scale = LANE(div_scale(x, y, z).value),
    .div_scale_vcc = LANE(div_scale(x, y, z).vcc),
    .div_fmas = LANE(div_fmas(x, y, z, flag)),
    .div_fixup = LANE(div_fixup(x, y, z)),
    .divide = LANE(divide_as_compiled(x, y)),
    .min = LANE(min_number(x, y, flag)),
    .max = LANE(max_number(x, y, flag)),
    .med3 = LANE(med3_f32(x, y, z, flag)),
    .min3 = LANE(min3_number(x, y, z, flag)),
    .max3 = LANE(max3_number(x, y, z, flag)),
    .minimum3 = LANE(minimum3(x, y, z)),
    .maximum3 = LANE(maximum3(x, y, z)),
    .rndne = LANE(numerics::rndne(x)),
    .floor = LANE(numerics::floor(x)),
    .ceil = LANE(numerics::ceil(x)),
    .trunc = LANE(numerics::trunc(x)),
    .fract = LANE(fract(x)),
    .to_i32 = LANE(i32_from_f32(x)),
    .to_u32 = LANE(u32_from_f32(x)),
    .floor_to_i32 = LANE(floor_i32_from_f32(x)),
    .nearest_to_i32 = LANE(nearest_i32_from_f32(x)),
    .from_i32 = LANE(f32_from_i32(static_cast<std::int32_t>(x))),
    .from_u32 = LANE(f32_from_u32(x)),
    .frexp_exponent = LANE(frexp_exponent(x)),
    .frexp_mantissa = LANE(frexp_mantissa(x)),
    .ldexp = LANE(ldexp_f32(x, static_cast<std::int32_t>(y))),
    .rcp_f64 = WIDE(rcp_f64(x)),
    .rsq_f64 = WIDE(rsq_f64(x)),
    .sqrt_f64 = WIDE(sqrt_f64(x)),
    .divide_f64 = WIDE(divide_as_compiled(x, y)),
    .min_f64 = WIDE(min_number(x, y, flag)),
    .max_f64 = WIDE(max_number(x, y, flag)),
    .rndne_f64 = WIDE(numerics::rndne(x)),
    .fract_f64 = WIDE(fract(x)),
    .f64_to_i32 = WIDE(i32_from_f64(x)),
    .f64_to_u32 = WIDE(u32_from_f64(x)),
    .frexp_exponent_f64 = WIDE(frexp_exponent(x)),
    .frexp_mantissa_f64 = WIDE(frexp_mantissa(x)),
    .ldexp_f64 = WIDE(ldexp_f64(x, static_cast<std::int32_t>(y))),
};

}  // namespace

const LaneTable& lane_table() { return kTable; }

}  // namespace monojit::emulator::numerics_test::MONOJIT_HOST_ISA_NAMESPACE
