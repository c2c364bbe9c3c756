// VOP1, VOP2, VOP3: Half and 16-bit integers. Results take the low half of a row; the upper half becomes zero, or stays
// as it was (kInsertsHalf).
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/half.h"
#include "runtime/emulator/execute/lanes.h"
#include "runtime/emulator/numerics/convert.h"
#include "runtime/emulator/numerics/division.h"
#include "runtime/emulator/numerics/transcendental.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

namespace n = numerics;

template <class T>
MONOJIT_EMULATOR_INLINE T smaller(T a, T b) {
  return a < b ? a : b;
}
template <class T>
MONOJIT_EMULATOR_INLINE T larger(T a, T b) {
  return a > b ? a : b;
}
template <class T>
MONOJIT_EMULATOR_INLINE T median(T a, T b, T c) {
  return larger(smaller(a, b), smaller(larger(a, b), c));
}

/// A Half function that numerics has for f32 bits.
template <auto kFunction>
MONOJIT_EMULATOR_INLINE HalfResult through_f32(Half a) {
  return half_from_bits(kFunction(half_bits(a)));
}

/// Of f32's special cases a Half has only those without exponents: its own are far inside f32's.
MONOJIT_EMULATOR_INLINE HalfResult fixed_up(Half quotient, Half denominator, Half numerator) {
  const u32 estimate = half_bits(quotient), d = half_bits(denominator), c = half_bits(numerator);
  const bool plain =
      !n::is_zero(d) & !n::is_zero(c) & (n::magnitude(d) < n::kF32Infinity) & (n::magnitude(c) < n::kF32Infinity);
  const u32 finite = ((d ^ c) & n::kF32Sign) | n::magnitude(estimate);
  return half_from_bits(n::select(plain, finite, n::div_fixup(estimate, d, c)));
}

MONOJIT_EMULATOR_INLINE i32 frexp_exponent_16(Half a) {
  return n::is_zero(half_bits(a)) ? 0 : n::frexp_exponent(half_bits(a));
}

constexpr Entry kEntries[] = {
    vector<[](Half a, Half b) { return half_add(a, b); }>("v_add_f16"),
    vector<[](Half a, Half b) { return half_sub(a, b); }>("v_sub_f16"),
    vector<[](Half a, Half b) { return half_sub(b, a); }>("v_subrev_f16"),
    vector<[](Half a, Half b) { return half_mul(a, b); }>("v_mul_f16"),
    vector<[](Half a, Half b, Half c) { return half_fma(a, b, c); }>("v_fma_f16", kInsertsHalf),
    vector<[](Half a, Half b, Half c) { return half_fma(a, b, c); }>("v_fma_legacy_f16"),
    vector<[](Half a, Half b, Half c, Mode mode) { return half_mad(a, b, c, mode); }>("v_mad_f16", kInsertsHalf),
    vector<[](Half a, Half b, Half c, Mode mode) { return half_mad(a, b, c, mode); }>("v_mad_legacy_f16"),
    vector<[](Half a, Half b, Half c, Mode mode) { return half_mad(a, b, c, mode); }>("v_mac_f16", kTied),
    vector<[](Half a, Half b, Half c, Mode mode) { return half_mad(a, b, c, mode); }>("v_madak_f16"),
    vector<[](Half a, Half b, Half c, Mode mode) { return half_mad(a, b, c, mode); }>("v_madmk_f16"),
    vector<[](Half a, Half b, Mode mode) { return half_min(a, b, mode); }>("v_min_f16"),
    vector<[](Half a, Half b, Mode mode) { return half_max(a, b, mode); }>("v_max_f16"),
    vector<[](Half a, Half b, Half c, Mode mode) {
      return half_from_bits(n::min3_number(exact_half_bits(a), exact_half_bits(b), exact_half_bits(c), mode.ieee));
    }>("v_min3_f16"),
    vector<[](Half a, Half b, Half c, Mode mode) {
      return half_from_bits(n::max3_number(exact_half_bits(a), exact_half_bits(b), exact_half_bits(c), mode.ieee));
    }>("v_max3_f16"),
    vector<[](Half a, Half b, Half c, Mode mode) {
      return half_from_bits(n::med3_f32(exact_half_bits(a), exact_half_bits(b), exact_half_bits(c), mode.ieee));
    }>("v_med3_f16"),
    vector<[](Half a) { return through_f32<[](u32 x) { return n::rndne(x); }>(a); }>("v_rndne_f16"),
    vector<[](Half a) { return through_f32<[](u32 x) { return n::floor(x); }>(a); }>("v_floor_f16"),
    vector<[](Half a) { return through_f32<[](u32 x) { return n::ceil(x); }>(a); }>("v_ceil_f16"),
    vector<[](Half a) { return through_f32<[](u32 x) { return n::trunc(x); }>(a); }>("v_trunc_f16"),
    vector<[](Half a) {
      constexpr float kBelowOne = 1.0f - 0x1p-11f;
      const float part = widen(a) - __builtin_floorf(widen(a));
      return HalfResult{part > kBelowOne ? kBelowOne : part};
    }>("v_fract_f16"),
    vector<[](Half a) { return through_f32<[](u32 x) { return n::rcp_f32(x); }>(a); }>("v_rcp_f16"),
    vector<[](Half a) { return through_f32<[](u32 x) { return n::sqrt_f32(x); }>(a); }>("v_sqrt_f16"),
    vector<[](Half a) { return through_f32<[](u32 x) { return n::rsq_f32(x); }>(a); }>("v_rsq_f16"),
    vector<[](Half a) { return through_f32<[](u32 x) { return n::exp2_f32(x); }>(a); }>("v_exp_f16"),
    vector<[](Half a) { return through_f32<[](u32 x) { return n::log2_f32(x); }>(a); }>("v_log_f16"),
    vector<[](Half a) { return through_f32<[](u32 x) { return n::sin_f32(x); }>(a); }>("v_sin_f16"),
    vector<[](Half a) { return through_f32<[](u32 x) { return n::cos_f32(x); }>(a); }>("v_cos_f16"),
    vector<[](Half a) { return static_cast<i16>(frexp_exponent_16(a)); }>("v_frexp_exp_i16_f16"),
    vector<[](Half a) { return through_f32<[](u32 x) { return n::frexp_mantissa(x); }>(a); }>("v_frexp_mant_f16"),
    vector<[](Half a, i16 b) { return half_from_bits(n::ldexp_f32(half_bits(a), b)); }>("v_ldexp_f16"),
    vector<[](Half q, Half d, Half c) { return fixed_up(q, d, c); }>("v_div_fixup_f16", kInsertsHalf),
    vector<[](Half q, Half d, Half c) { return fixed_up(q, d, c); }>("v_div_fixup_legacy_f16"),

    vector<[](u16 a, u16 b) { return static_cast<u16>(a + b); }>("v_add_u16"),
    vector<[](u16 a, u16 b) { return static_cast<u16>(a - b); }>("v_sub_u16"),
    vector<[](u16 a, u16 b) { return static_cast<u16>(b - a); }>("v_subrev_u16"),
    vector<[](u16 a, u16 b) { return static_cast<u16>(a + b); }>("v_add_i16"),
    vector<[](u16 a, u16 b) { return static_cast<u16>(a - b); }>("v_sub_i16"),
    vector<[](u16 a, u16 b) { return static_cast<u16>(u32{a} * b); }>("v_mul_lo_u16"),
    vector<[](u16 a, u16 b, u16 c) { return static_cast<u16>(u32{a} * b + c); }>("v_mad_u16", kInsertsHalf),
    vector<[](u16 a, u16 b, u16 c) { return static_cast<u16>(u32{a} * b + c); }>("v_mad_i16", kInsertsHalf),
    vector<[](u16 a, u16 b, u16 c) { return static_cast<u16>(u32{a} * b + c); }>("v_mad_legacy_u16"),
    vector<[](u16 a, u16 b, u16 c) { return static_cast<u16>(u32{a} * b + c); }>("v_mad_legacy_i16"),
    vector<[](u16 a, u16 b, u32 c) { return u32{a} * b + c; }>("v_mad_u32_u16"),
    vector<[](i16 a, i16 b, u32 c) { return static_cast<u32>(i32{a} * b) + c; }>("v_mad_i32_i16"),
    vector<[](u16 a, u16 b) { return static_cast<u16>(b << (a & 15)); }>("v_lshlrev_b16"),
    vector<[](u16 a, u16 b) { return static_cast<u16>(b >> (a & 15)); }>("v_lshrrev_b16"),
    vector<[](u16 a, i16 b) { return static_cast<i16>(b >> (a & 15)); }>("v_ashrrev_i16"),
    vector<[](u16 a, u16 b) { return smaller(a, b); }>("v_min_u16"),
    vector<[](u16 a, u16 b) { return larger(a, b); }>("v_max_u16"),
    vector<[](i16 a, i16 b) { return smaller(a, b); }>("v_min_i16"),
    vector<[](i16 a, i16 b) { return larger(a, b); }>("v_max_i16"),
    vector<[](u16 a, u16 b, u16 c) { return smaller(smaller(a, b), c); }>("v_min3_u16"),
    vector<[](u16 a, u16 b, u16 c) { return larger(larger(a, b), c); }>("v_max3_u16"),
    vector<[](i16 a, i16 b, i16 c) { return smaller(smaller(a, b), c); }>("v_min3_i16"),
    vector<[](i16 a, i16 b, i16 c) { return larger(larger(a, b), c); }>("v_max3_i16"),
    vector<[](u16 a, u16 b, u16 c) { return median(a, b, c); }>("v_med3_u16"),
    vector<[](i16 a, i16 b, i16 c) { return median(a, b, c); }>("v_med3_i16"),
    vector<[](u16 a, u16 b) { return u32{a} | u32{b} << 16; }>("v_pack_b32_f16"),
    vector<[](u32 a) {
      const auto byte = [](u32 half) {
        const i32 x = static_cast<i16>(half);
        return static_cast<u32>(x < 0 ? 0 : x > 255 ? 255 : x);
      };
      return static_cast<u16>(byte(a) | byte(a >> 16) << 8);
    }>("v_sat_pk_u8_i16"),
};

}  // namespace

std::span<const Entry> vector_short_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
