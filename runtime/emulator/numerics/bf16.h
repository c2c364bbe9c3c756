// bf16: conversions and v_dot2_f32_bf16 / v_dot2c_f32_bf16.
#pragma once

#include "runtime/emulator/numerics/bits.h"

namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE {

/// v_cvt_f32_bf16, of the low 16 bits; exact.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t decode_bf16(std::uint32_t half) { return half << 16; }

/// Nearest, ties to even. A NaN stays one: quietened, with the payload's top bits.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t encode_bf16(std::uint32_t f32) {
  const std::uint32_t rounded = (f32 + 0x7FFFU + ((f32 >> 16) & 1U)) >> 16;
  return is_nan(f32) ? quiet(f32) >> 16 : rounded;
}

/// v_cvt_sr_bf16_f32: the seed's high half is added below the last bit that is kept.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t encode_bf16_stochastic(std::uint32_t f32, std::uint32_t seed) {
  const std::uint32_t rounded = (f32 + (seed >> 16)) >> 16;
  return is_nan(f32) ? quiet(f32) >> 16 : is_infinite(f32) ? f32 >> 16 : rounded;
}

/// v_cvt_pk_bf16_f32: lo in bits 15:0, hi in bits 31:16.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t encode_bf16_pair(std::uint32_t lo, std::uint32_t hi) {
  return encode_bf16(lo) | (encode_bf16(hi) << 16);
}

/// One f32 step of the dot products, which flush denormals on both sides whatever MODE says.
MONOJIT_LANE_FUNCTION std::uint32_t flushed_product(std::uint32_t x, std::uint32_t y) {
  return flush_denormal(as_bits(as_float(flush_denormal(x)) * as_float(flush_denormal(y))));
}

MONOJIT_LANE_FUNCTION std::uint32_t flushed_sum(std::uint32_t x, std::uint32_t y) {
  return flush_denormal(as_bits(as_float(flush_denormal(x)) + as_float(flush_denormal(y))));
}

/// v_dot2_f32_bf16: (lo*lo + hi*hi) + addend, each step rounded. The chip's inner order is not known: no kernel may
/// rely on the last bits.
MONOJIT_LANE_FUNCTION std::uint32_t dot2_f32_bf16(std::uint32_t x, std::uint32_t y, std::uint32_t addend) {
  const std::uint32_t low = flushed_product(x << 16, y << 16);
  const std::uint32_t high = flushed_product(x & 0xFFFF0000U, y & 0xFFFF0000U);
  return flushed_sum(flushed_sum(low, high), addend);
}

/// v_dot2c_f32_bf16: (accumulator + lo*lo) + hi*hi.
MONOJIT_LANE_FUNCTION std::uint32_t dot2c_f32_bf16(std::uint32_t x, std::uint32_t y, std::uint32_t accumulator) {
  const std::uint32_t low = flushed_product(x << 16, y << 16);
  const std::uint32_t high = flushed_product(x & 0xFFFF0000U, y & 0xFFFF0000U);
  return flushed_sum(flushed_sum(accumulator, low), high);
}

}  // namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE
