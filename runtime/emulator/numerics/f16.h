// f16: conversions and v_dot2_f32_f16.
#pragma once

#include "runtime/emulator/numerics/bf16.h"
#include "runtime/emulator/numerics/small_float.h"

namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE {

inline constexpr std::uint32_t kF16Infinity = 0x7C00;
inline constexpr std::uint32_t kF16LargestFinite = 0x7BFF;
inline constexpr std::uint32_t kF16QuietBit = 0x0200;

/// v_cvt_f32_f16, of the low 16 bits; exact, a NaN is quietened.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t decode_f16(std::uint32_t half) {
  const std::uint32_t mag = half & 0x7FFFU;
  const std::uint32_t special = kF32Infinity | (mag << 13) | (mag > kF16Infinity ? kF32QuietBit : 0);
  return widen_sign<kFormatF16>(half) | (mag >= kF16Infinity ? special : widen_magnitude<kFormatF16>(mag));
}

/// The same value without quietening: a signalling NaN stays one.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t decode_f16_exactly(std::uint32_t half) {
  const std::uint32_t mag = half & 0x7FFFU;
  const std::uint32_t special = kF32Infinity | (mag << 13);
  return widen_sign<kFormatF16>(half) | (mag >= kF16Infinity ? special : widen_magnitude<kFormatF16>(mag));
}

/// An f16 denormal becomes zero of its sign.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t flush_denormal_f16(std::uint32_t half) {
  constexpr std::uint32_t kSmallestNormal = 0x0400, kSign = 0x8000;
  return (half & 0x7FFFU) < kSmallestNormal ? half & kSign : half;
}

/// The special cases around a rounded f16 magnitude: `overflow` is the code for finite values past the largest.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t finish_f16(std::uint32_t f32, std::uint32_t code, std::uint32_t overflow,
                                                         std::uint32_t infinity) {
  const std::uint32_t nan = kF16Infinity | kF16QuietBit | ((f32 >> 13) & 0x3FFU);
  const std::uint32_t mag = magnitude(f32);
  const std::uint32_t finite = code > kF16LargestFinite ? overflow : code;
  const std::uint32_t special = mag > kF32Infinity ? nan : infinity;
  return narrow_sign<kFormatF16>(f32) | (mag >= kF32Infinity ? special : finite);
}

/// v_cvt_f16_f32 with round to nearest even; denormal results are kept. With FP16_OVFL a finite overflow gives the
/// largest value, an Inf stays Inf.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t encode_f16(std::uint32_t f32, bool fp16_ovfl) {
  return finish_f16(f32, narrow_magnitude<kFormatF16>(magnitude(f32)), fp16_ovfl ? kF16LargestFinite : kF16Infinity,
                    kF16Infinity);
}

/// Round towards zero: a finite overflow gives the largest value.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t encode_f16_towards_zero(std::uint32_t f32) {
  const std::uint32_t finite = magnitude(f32) < kF32Infinity ? magnitude(f32) : 0;
  return finish_f16(f32, narrow_magnitude_stochastic<kFormatF16>(finite, 0), kF16LargestFinite, kF16Infinity);
}

/// With any of MODE's roundings (0 nearest even, 1 up, 2 down, 3 towards zero) and, on demand, denormal results
/// flushed.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t encode_f16(std::uint32_t f32, std::uint32_t round, bool fp16_ovfl,
                                                         bool flush_result) {
  const std::uint32_t finite = magnitude(f32) < kF32Infinity ? magnitude(f32) : 0;
  // All of this is exact, so it does not depend on how the host rounds.
  const std::uint32_t cut = narrow_magnitude_stochastic<kFormatF16>(finite, 0);
  const float below = as_float(widen_magnitude<kFormatF16>(cut));
  const float rest = 2.0F * (as_float(finite) - below);
  const float step = as_float(widen_magnitude<kFormatF16>(cut + 1)) - below;
  const bool up = (rest > step) | ((rest == step) & ((cut & 1U) != 0));
  const std::uint32_t nearest = cut + static_cast<std::uint32_t>(up);
  const bool negative = (f32 & kF32Sign) != 0;
  const bool outwards = round == (negative ? 2U : 1U);
  const bool inexact = widen_magnitude<kFormatF16>(cut) != finite;
  const std::uint32_t directed = cut + static_cast<std::uint32_t>(outwards & inexact);
  const std::uint32_t code = round == 0 ? nearest : directed;
  const bool to_infinity = (!fp16_ovfl) & ((round == 0) | outwards);
  const std::uint32_t overflow = to_infinity ? kF16Infinity : kF16LargestFinite;
  const std::uint32_t result = finish_f16(f32, code, overflow, kF16Infinity);
  return flush_result ? flush_denormal_f16(result) : result;
}

/// v_cvt_sr_f16_f32: the seed's high bits are added below the last bit that is kept.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t encode_f16_stochastic(std::uint32_t f32, std::uint32_t seed,
                                                                    bool fp16_ovfl) {
  const std::uint32_t finite = magnitude(f32) < kF32Infinity ? magnitude(f32) : 0;
  return finish_f16(f32, narrow_magnitude_stochastic<kFormatF16>(finite, seed),
                    fp16_ovfl ? kF16LargestFinite : kF16Infinity, kF16Infinity);
}

/// v_cvt_pkrtz_f16_f32.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t encode_f16_pair_towards_zero(std::uint32_t lo, std::uint32_t hi) {
  return encode_f16_towards_zero(lo) | (encode_f16_towards_zero(hi) << 16);
}

/// v_dot2_f32_f16: as the bf16 form (bf16.h), in f32 with denormals flushed.
MONOJIT_LANE_FUNCTION std::uint32_t dot2_f32_f16(std::uint32_t x, std::uint32_t y, std::uint32_t addend) {
  const std::uint32_t low = flushed_product(decode_f16(x & 0xFFFFU), decode_f16(y & 0xFFFFU));
  const std::uint32_t high = flushed_product(decode_f16(x >> 16), decode_f16(y >> 16));
  return flushed_sum(flushed_sum(low, high), addend);
}

/// v_dot2c_f32_f16: (accumulator + lo*lo) + hi*hi.
MONOJIT_LANE_FUNCTION std::uint32_t dot2c_f32_f16(std::uint32_t x, std::uint32_t y, std::uint32_t accumulator) {
  const std::uint32_t low = flushed_product(decode_f16(x & 0xFFFFU), decode_f16(y & 0xFFFFU));
  const std::uint32_t high = flushed_product(decode_f16(x >> 16), decode_f16(y >> 16));
  return flushed_sum(flushed_sum(accumulator, low), high);
}

}  // namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE
