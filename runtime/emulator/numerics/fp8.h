// The 8-bit formats: OCP on gfx950 (E4M3 with NaN and no Inf, E5M2 as IEEE) and FNUZ on gfx942 (one NaN, 0x80; no Inf,
// no minus zero). v_cvt_pk_fp8_f32, v_cvt_sr_fp8_f32, v_cvt_f32_fp8 and their bf8 kin.
#pragma once

#include "runtime/emulator/numerics/small_float.h"

namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE {

enum class Fp8 : std::uint8_t { kE4M3, kE5M2, kE4M3Fnuz, kE5M2Fnuz };

struct Fp8Traits {
  SmallFormat format;
  std::uint32_t largest;   ///< magnitude code of the largest finite value
  std::uint32_t overflow;  ///< magnitude code of an overflow with FP16_OVFL = 0
  bool fnuz;
};

constexpr Fp8Traits fp8_traits(Fp8 kind) {
  switch (kind) {
    case Fp8::kE4M3:
      return {kFormatE4M3, 0x7E, 0x7F, false};
    case Fp8::kE5M2:
      return {kFormatE5M2, 0x7B, 0x7C, false};
    case Fp8::kE4M3Fnuz:
      return {kFormatE4M3Fnuz, 0x7F, 0x80, true};
    case Fp8::kE5M2Fnuz:
      return {kFormatE5M2Fnuz, 0x7F, 0x80, true};
  }
  return {};
}

inline constexpr std::uint32_t kFnuzNaN = 0x80;

/// f32 bits of the code in the low 8 bits (higher bits are ignored).
template <Fp8 Kind>
MONOJIT_LANE_FUNCTION constexpr std::uint32_t decode_fp8(std::uint32_t code) {
  constexpr Fp8Traits kTraits = fp8_traits(Kind);
  const std::uint32_t sign = widen_sign<kTraits.format>(code & 0xFFU);
  const std::uint32_t mag = code & 0x7FU;
  const std::uint32_t finite = sign | widen_magnitude<kTraits.format>(mag);
  if constexpr (kTraits.fnuz) return (code & 0xFFU) == kFnuzNaN ? kF32NaN : finite;
  if constexpr (Kind == Fp8::kE4M3) return mag == 0x7FU ? sign | kF32NaN : finite;
  const std::uint32_t special = sign | (mag == kTraits.overflow ? kF32Infinity : kF32NaN);
  return mag > kTraits.largest ? special : finite;
}

/// Puts sign, overflow rule and NaN around a rounded magnitude code.
template <Fp8 Kind>
MONOJIT_LANE_FUNCTION constexpr std::uint32_t finish_fp8(std::uint32_t f32, std::uint32_t code, bool fp16_ovfl) {
  constexpr Fp8Traits kTraits = fp8_traits(Kind);
  const bool overflow = (code > kTraits.largest) | (magnitude(f32) >= kF32Infinity);
  const std::uint32_t sign = narrow_sign<kTraits.format>(f32);
  if constexpr (kTraits.fnuz) {
    const std::uint32_t finite = select(code == 0, 0U, sign | code);
    const std::uint32_t limit = select(fp16_ovfl, sign | kTraits.largest, kTraits.overflow);
    return select(is_nan(f32), kFnuzNaN, select(overflow, limit, finite));
  }
  const std::uint32_t limit = fp16_ovfl ? kTraits.largest : kTraits.overflow;
  return sign | select(is_nan(f32), 0x7FU, select(overflow, limit, code));
}

/// f32 bits to the nearest code, ties to even whatever MODE says; f32 denormals give zero. Overflow is judged after
/// rounding. `fp16_ovfl` is MODE.FP16_OVFL: set, overflow and Inf give the largest value, else NaN (E5M2 OCP: Inf).
template <Fp8 Kind>
MONOJIT_LANE_FUNCTION constexpr std::uint32_t encode_fp8(std::uint32_t f32, bool fp16_ovfl) {
  return finish_fp8<Kind>(f32, narrow_magnitude<fp8_traits(Kind).format>(magnitude(f32)), fp16_ovfl);
}

/// Stochastic rounding by the high bits of `seed` (20 for E4M3, 21 for E5M2), added to the mantissa before it is cut.
/// AMD's text drops the carry out of the mantissa; here it goes on into the exponent, as silicon is reported to be
/// unbiased.
template <Fp8 Kind>
MONOJIT_LANE_FUNCTION constexpr std::uint32_t encode_fp8_stochastic(std::uint32_t f32, std::uint32_t seed,
                                                                    bool fp16_ovfl) {
  constexpr SmallFormat kFormat = fp8_traits(Kind).format;
  const std::uint32_t finite = magnitude(f32) < kF32Infinity ? magnitude(f32) : 0;
  return finish_fp8<Kind>(f32, narrow_magnitude_stochastic<kFormat>(finite, seed), fp16_ovfl);
}

/// v_cvt_pk_fp8_f32 / v_cvt_pk_bf8_f32: codes of lo and hi in bits 7:0 and 15:8.
template <Fp8 Kind>
MONOJIT_LANE_FUNCTION constexpr std::uint32_t encode_fp8_pair(std::uint32_t lo, std::uint32_t hi, bool fp16_ovfl) {
  return encode_fp8<Kind>(lo, fp16_ovfl) | (encode_fp8<Kind>(hi, fp16_ovfl) << 8);
}

/// Writes 8 or 16 bits into part of an old register value: op_sel[3] picks a half, op_sel[3:2] a byte.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t insert_half(std::uint32_t old, std::uint32_t half, std::uint32_t index) {
  const std::uint32_t shift = 16 * index;
  return (old & ~(0xFFFFU << shift)) | ((half & 0xFFFFU) << shift);
}

MONOJIT_LANE_FUNCTION constexpr std::uint32_t insert_byte(std::uint32_t old, std::uint32_t byte, std::uint32_t index) {
  const std::uint32_t shift = 8 * index;
  return (old & ~(0xFFU << shift)) | ((byte & 0xFFU) << shift);
}

}  // namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE
