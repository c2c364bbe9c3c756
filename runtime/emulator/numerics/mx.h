// v_cvt_scalef32_* of gfx950: conversions between f32 / f16 / bf16 and fp8, bf8, fp6, bf6, fp4 with a power-of-two
// scale. Narrowing divides by the scale, widening multiplies, with one rounding in all.
#pragma once

#include "runtime/emulator/numerics/f16.h"
#include "runtime/emulator/numerics/fp8.h"

namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE {

/// The factor a scale operand stands for, as f32 bits. Only bits 30:23 of the operand count: code 0 is 2^-127, 255 is
/// NaN.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t scale_factor(std::uint32_t operand) {
  const std::uint32_t code = (operand >> 23) & 0xFFU;
  const std::uint32_t finite = code == 0 ? 0x00400000U : code << 23;
  return code == 0xFFU ? kF32NaN : finite;
}

/// One over that factor: exact, as 2^127 and 2^-127 are f32 values too.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t inverse_scale_factor(std::uint32_t operand) {
  const std::uint32_t code = (operand >> 23) & 0xFFU;
  const std::uint32_t finite = code == 254 ? 0x00400000U : (254U - code) << 23;
  return code == 0xFFU ? kF32NaN : finite;
}

/// f32 bits over the scale. What the product loses as an f32 denormal or gains as Inf no narrow format can see.
MONOJIT_LANE_FUNCTION std::uint32_t unscaled(std::uint32_t f32, std::uint32_t scale) {
  const std::uint32_t factor = inverse_scale_factor(scale);
  const std::uint32_t result = as_bits(as_float(f32) * as_float(factor));
  // Of two NaNs a host instruction may give either: that of the scale counts.
  return magnitude(factor) > kF32Infinity ? factor : result;
}

MONOJIT_LANE_FUNCTION std::uint32_t scaled(std::uint32_t f32, std::uint32_t scale) {
  return as_bits(as_float(f32) * as_float(scale_factor(scale)));
}

/// The 4- and 6-bit formats have neither Inf nor NaN: what is too large saturates, and so does Inf. NaN is not
/// documented; it gives zero.
template <SmallFormat F>
MONOJIT_LANE_FUNCTION constexpr std::uint32_t finish_saturating(std::uint32_t f32, std::uint32_t code) {
  const bool overflow = (code > F.mask()) | (magnitude(f32) >= kF32Infinity);
  return select(is_nan(f32), 0U, narrow_sign<F>(f32) | select(overflow, F.mask(), code));
}

/// f32 bits to the nearest E2M1, E2M3 or E3M2 code, ties to even.
template <SmallFormat F>
MONOJIT_LANE_FUNCTION constexpr std::uint32_t encode_saturating(std::uint32_t f32) {
  return finish_saturating<F>(f32, narrow_magnitude<F>(magnitude(f32)));
}

template <SmallFormat F>
MONOJIT_LANE_FUNCTION constexpr std::uint32_t encode_saturating_stochastic(std::uint32_t f32, std::uint32_t seed) {
  const std::uint32_t finite = magnitude(f32) < kF32Infinity ? magnitude(f32) : 0;
  return finish_saturating<F>(f32, narrow_magnitude_stochastic<F>(finite, seed));
}

/// f32 bits of an E2M1, E2M3 or E3M2 code; bits above the format's width are ignored.
template <SmallFormat F>
MONOJIT_LANE_FUNCTION constexpr std::uint32_t decode_saturating(std::uint32_t code) {
  return widen_sign<F>(code) | widen_magnitude<F>(code & F.mask());
}

/// v_cvt_scalef32_pk_fp4_f32: one byte, lo in the low nibble. f16 and bf16 sources: decode them first.
MONOJIT_LANE_FUNCTION std::uint32_t scaled_fp4_pair(std::uint32_t lo, std::uint32_t hi, std::uint32_t scale) {
  return encode_saturating<kFormatE2M1>(unscaled(lo, scale)) |
         (encode_saturating<kFormatE2M1>(unscaled(hi, scale)) << 4);
}

/// v_prng_b32, which also steps the seed between the elements of the stochastic forms.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t prng_step(std::uint32_t x) {
  return (x << 1) ^ ((x & 0x80000000U) != 0 ? 0xC5U : 0U);
}

/// v_cvt_scalef32_sr_pk_fp4_f32.
MONOJIT_LANE_FUNCTION std::uint32_t scaled_fp4_pair_stochastic(std::uint32_t lo, std::uint32_t hi, std::uint32_t seed,
                                                               std::uint32_t scale) {
  return encode_saturating_stochastic<kFormatE2M1>(unscaled(lo, scale), seed) |
         (encode_saturating_stochastic<kFormatE2M1>(unscaled(hi, scale), prng_step(seed)) << 4);
}

/// v_cvt_scalef32_pk_fp8_f32 / pk_bf8_f32: 16 bits. FP16_OVFL as in fp8.h.
template <Fp8 Kind>
MONOJIT_LANE_FUNCTION std::uint32_t scaled_fp8_pair(std::uint32_t lo, std::uint32_t hi, std::uint32_t scale,
                                                    bool fp16_ovfl) {
  return encode_fp8_pair<Kind>(unscaled(lo, scale), unscaled(hi, scale), fp16_ovfl);
}

/// v_cvt_scalef32_sr_fp8_f32 / sr_bf8_f32: one byte.
template <Fp8 Kind>
MONOJIT_LANE_FUNCTION std::uint32_t scaled_fp8_stochastic(std::uint32_t f32, std::uint32_t seed, std::uint32_t scale,
                                                          bool fp16_ovfl) {
  return encode_fp8_stochastic<Kind>(unscaled(f32, scale), seed, fp16_ovfl);
}

/// Widening forms, to f32 bits; encode_f16 or encode_bf16 of it is the f16 or bf16 form, still with one rounding.
template <SmallFormat F>
MONOJIT_LANE_FUNCTION std::uint32_t widen_scaled(std::uint32_t code, std::uint32_t scale) {
  return scaled(decode_saturating<F>(code), scale);
}

template <Fp8 Kind>
MONOJIT_LANE_FUNCTION std::uint32_t widen_scaled_fp8(std::uint32_t code, std::uint32_t scale) {
  return scaled(decode_fp8<Kind>(code), scale);
}

/// 32 six-bit codes of one lane in 6 dwords, code n in bits 6n..6n+5.
inline void pack_6bit(const std::uint32_t (&codes)[32], std::uint32_t (&words)[6]) {
  for (std::uint32_t& word : words) word = 0;
  for (unsigned n = 0; n < 32; ++n) {
    const unsigned bit = 6 * n;
    words[bit / 32] |= (codes[n] & 63U) << (bit % 32);
    if (bit % 32 > 26) words[bit / 32 + 1] |= (codes[n] & 63U) >> (32 - bit % 32);
  }
}

inline void unpack_6bit(const std::uint32_t (&words)[6], std::uint32_t (&codes)[32]) {
  for (unsigned n = 0; n < 32; ++n) {
    const unsigned bit = 6 * n;
    std::uint32_t code = words[bit / 32] >> (bit % 32);
    if (bit % 32 > 26) code |= words[bit / 32 + 1] << (32 - bit % 32);
    codes[n] = code & 63U;
  }
}

/// v_cvt_scalef32_pk32_{fp6,bf6}_{f16,bf16} of one lane, the sources already decoded to f32 bits. The 2xpk16 forms take
/// element 2n from their first source and 2n+1 from the second: interleave them before.
template <SmallFormat F>
void scaled_6bit_block(const std::uint32_t (&f32)[32], std::uint32_t scale, std::uint32_t (&words)[6]) {
  std::uint32_t codes[32];
  for (unsigned n = 0; n < 32; ++n) codes[n] = encode_saturating<F>(unscaled(f32[n], scale));
  pack_6bit(codes, words);
}

/// The stochastic form: the seed steps from element to element.
template <SmallFormat F>
void scaled_6bit_block_stochastic(const std::uint32_t (&f32)[32], std::uint32_t seed, std::uint32_t scale,
                                  std::uint32_t (&words)[6]) {
  std::uint32_t codes[32];
  for (unsigned n = 0; n < 32; ++n, seed = prng_step(seed))
    codes[n] = encode_saturating_stochastic<F>(unscaled(f32[n], scale), seed);
  pack_6bit(codes, words);
}

/// v_cvt_scalef32_pk32_f32_{fp6,bf6} of one lane, to f32 bits.
template <SmallFormat F>
void widen_6bit_block(const std::uint32_t (&words)[6], std::uint32_t scale, std::uint32_t (&f32)[32]) {
  std::uint32_t codes[32];
  unpack_6bit(words, codes);
  for (unsigned n = 0; n < 32; ++n) f32[n] = widen_scaled<F>(codes[n], scale);
}

}  // namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE
