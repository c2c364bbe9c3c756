// The vectors that the tile kernels are written in: GCC's vector types, as wide as the host's registers, and the few
// moves between element widths that those types don't express.
#pragma once

#include <cstdint>

#include <immintrin.h>

#include "runtime/emulator/numerics/small_float.h"

namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#else
inline constexpr int kVectorBytes = 32;
#endif
inline constexpr int kWidth = kVectorBytes / 4;  ///< 32-bit elements of a vector

// NOLINTBEGIN(modernize-use-using): the attribute is only taken in a typedef of this form
typedef float F32 __attribute__((vector_size(kVectorBytes), may_alias));
typedef std::int32_t I32 __attribute__((vector_size(kVectorBytes), may_alias));
typedef std::uint32_t U32 __attribute__((vector_size(kVectorBytes), may_alias));
typedef std::int16_t I16 __attribute__((vector_size(kVectorBytes), may_alias));
typedef signed char I8 __attribute__((vector_size(kVectorBytes), may_alias));
typedef double F64 __attribute__((vector_size(kVectorBytes), may_alias));
typedef std::int64_t I64 __attribute__((vector_size(kVectorBytes), may_alias));
// NOLINTEND(modernize-use-using)

/// kWidth doubles, lower elements first.
struct F64Pair {
  F64 low;
  F64 high;
};

template <class To, class From>
MONOJIT_LANE_FUNCTION To reinterpret(From from) {
  return __builtin_bit_cast(To, from);
}

template <class Vector, class Element>
MONOJIT_LANE_FUNCTION Vector load(const Element* from) {
  Vector vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}

template <class Vector, class Element>
MONOJIT_LANE_FUNCTION void store(Element* to, Vector vector) {
  __builtin_memcpy(to, &vector, sizeof vector);
}

MONOJIT_LANE_FUNCTION I32 splat(std::int32_t value) { return value - I32{}; }
MONOJIT_LANE_FUNCTION F32 splat(float value) { return value - F32{}; }
MONOJIT_LANE_FUNCTION F64 splat(double value) { return value - F64{}; }
MONOJIT_LANE_FUNCTION I8 splat(std::int8_t value) { return value - I8{}; }
MONOJIT_LANE_FUNCTION I16 splat(std::int16_t value) { return value - I16{}; }

MONOJIT_LANE_FUNCTION I32 larger(I32 x, I32 y) { return x > y ? x : y; }
MONOJIT_LANE_FUNCTION I32 smaller(I32 x, I32 y) { return x < y ? x : y; }
MONOJIT_LANE_FUNCTION I16 larger(I16 x, I16 y) { return x > y ? x : y; }
MONOJIT_LANE_FUNCTION I8 larger(I8 x, I8 y) { return x > y ? x : y; }
MONOJIT_LANE_FUNCTION I8 smaller(I8 x, I8 y) { return x < y ? x : y; }

#if defined(__AVX512F__)
/// Bit n is the sign bit of element n.
MONOJIT_LANE_FUNCTION std::uint32_t sign_bits(I32 x) { return _mm512_movepi32_mask(reinterpret<__m512i>(x)); }
MONOJIT_LANE_FUNCTION F64Pair widen(F32 x) {
  const auto v = reinterpret<__m512>(x);
  return {reinterpret<F64>(_mm512_cvtps_pd(_mm512_castps512_ps256(v))),
          reinterpret<F64>(_mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)))};
}
MONOJIT_LANE_FUNCTION F64Pair widen(I32 x) {
  const auto v = reinterpret<__m512i>(x);
  return {reinterpret<F64>(_mm512_cvtepi32_pd(_mm512_castsi512_si256(v))),
          reinterpret<F64>(_mm512_cvtepi32_pd(_mm512_extracti32x8_epi32(v, 1)))};
}
MONOJIT_LANE_FUNCTION F32 narrow(F64Pair x) {
  const __m256 low = _mm512_cvtpd_ps(reinterpret<__m512d>(x.low));
  const __m256 high = _mm512_cvtpd_ps(reinterpret<__m512d>(x.high));
  return reinterpret<F32>(_mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1));
}
/// Towards zero.
MONOJIT_LANE_FUNCTION I32 truncate(F64Pair x) {
  const __m256i low = _mm512_cvttpd_epi32(reinterpret<__m512d>(x.low));
  const __m256i high = _mm512_cvttpd_epi32(reinterpret<__m512d>(x.high));
  return reinterpret<I32>(_mm512_inserti32x8(_mm512_castsi256_si512(low), high, 1));
}
MONOJIT_LANE_FUNCTION F64 floor(F64 x) {
  return reinterpret<F64>(_mm512_roundscale_pd(reinterpret<__m512d>(x), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
}
MONOJIT_LANE_FUNCTION F32 floor(F32 x) {
  return reinterpret<F32>(_mm512_roundscale_ps(reinterpret<__m512>(x), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
}
MONOJIT_LANE_FUNCTION F64 fused(F64 x, F64 y, F64 z) {
  return reinterpret<F64>(_mm512_fmadd_pd(reinterpret<__m512d>(x), reinterpret<__m512d>(y), reinterpret<__m512d>(z)));
}
MONOJIT_LANE_FUNCTION F32 fused(F32 x, F32 y, F32 z) {
  return reinterpret<F32>(_mm512_fmadd_ps(reinterpret<__m512>(x), reinterpret<__m512>(y), reinterpret<__m512>(z)));
}
/// 2^exponent; -1022 <= exponent <= 1023.
MONOJIT_LANE_FUNCTION F64Pair power_of_two_f64(I32 exponent) {
  const auto biased = reinterpret<__m512i>(exponent + 1023);
  const __m512i low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(biased));
  const __m512i high = _mm512_cvtepi32_epi64(_mm512_extracti32x8_epi32(biased, 1));
  return {reinterpret<F64>(_mm512_slli_epi64(low, 52)), reinterpret<F64>(_mm512_slli_epi64(high, 52))};
}
/// x * scale, a power of two, rounded down to an integer.
MONOJIT_LANE_FUNCTION F32 scale_down(F32 x, F32 scale) {
  constexpr int kDown = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
  return floor(reinterpret<F32>(_mm512_mul_round_ps(reinterpret<__m512>(x), reinterpret<__m512>(scale), kDown)));
}
/// The same as an i32, which must hold it.
MONOJIT_LANE_FUNCTION I32 scale_down_to_int(F32 x, F32 scale) {
  constexpr int kDown = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
  const __m512 scaled = _mm512_mul_round_ps(reinterpret<__m512>(x), reinterpret<__m512>(scale), kDown);
  return reinterpret<I32>(_mm512_cvt_roundps_epi32(scaled, kDown));
}
MONOJIT_LANE_FUNCTION I8 add_saturated(I8 x, I8 y) {
  return reinterpret<I8>(_mm512_adds_epi8(reinterpret<__m512i>(x), reinterpret<__m512i>(y)));
}
/// Sums of two neighbours: unsigned bytes of x times signed bytes of y, 16 bits each.
MONOJIT_LANE_FUNCTION I16 multiply_add_bytes(I8 x, I8 y) {
  return reinterpret<I16>(_mm512_maddubs_epi16(reinterpret<__m512i>(x), reinterpret<__m512i>(y)));
}
MONOJIT_LANE_FUNCTION I32 multiply_add_halves(I16 x, I16 y) {
  return reinterpret<I32>(_mm512_madd_epi16(reinterpret<__m512i>(x), reinterpret<__m512i>(y)));
}
/// table[index] of 16-byte tables, for indices 0..15.
MONOJIT_LANE_FUNCTION I8 look_up(const std::int8_t* table, I8 index) {
  const __m512i wide = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
  return reinterpret<I8>(_mm512_shuffle_epi8(wide, reinterpret<__m512i>(index)));
}
#else
MONOJIT_LANE_FUNCTION std::uint32_t sign_bits(I32 x) {
  return static_cast<std::uint32_t>(_mm256_movemask_ps(reinterpret<__m256>(x)));
}
MONOJIT_LANE_FUNCTION F64Pair widen(F32 x) {
  const auto v = reinterpret<__m256>(x);
  return {reinterpret<F64>(_mm256_cvtps_pd(_mm256_castps256_ps128(v))),
          reinterpret<F64>(_mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)))};
}
MONOJIT_LANE_FUNCTION F64Pair widen(I32 x) {
  const auto v = reinterpret<__m256i>(x);
  return {reinterpret<F64>(_mm256_cvtepi32_pd(_mm256_castsi256_si128(v))),
          reinterpret<F64>(_mm256_cvtepi32_pd(_mm256_extracti128_si256(v, 1)))};
}
MONOJIT_LANE_FUNCTION F32 narrow(F64Pair x) {
  return reinterpret<F32>(
      _mm256_set_m128(_mm256_cvtpd_ps(reinterpret<__m256d>(x.high)), _mm256_cvtpd_ps(reinterpret<__m256d>(x.low))));
}
MONOJIT_LANE_FUNCTION I32 truncate(F64Pair x) {
  return reinterpret<I32>(_mm256_set_m128i(_mm256_cvttpd_epi32(reinterpret<__m256d>(x.high)),
                                           _mm256_cvttpd_epi32(reinterpret<__m256d>(x.low))));
}
MONOJIT_LANE_FUNCTION F64 floor(F64 x) { return reinterpret<F64>(_mm256_floor_pd(reinterpret<__m256d>(x))); }
MONOJIT_LANE_FUNCTION F32 floor(F32 x) { return reinterpret<F32>(_mm256_floor_ps(reinterpret<__m256>(x))); }
MONOJIT_LANE_FUNCTION F64 fused(F64 x, F64 y, F64 z) {
  return reinterpret<F64>(_mm256_fmadd_pd(reinterpret<__m256d>(x), reinterpret<__m256d>(y), reinterpret<__m256d>(z)));
}
MONOJIT_LANE_FUNCTION F32 fused(F32 x, F32 y, F32 z) {
  return reinterpret<F32>(_mm256_fmadd_ps(reinterpret<__m256>(x), reinterpret<__m256>(y), reinterpret<__m256>(z)));
}
MONOJIT_LANE_FUNCTION F64Pair power_of_two_f64(I32 exponent) {
  const auto biased = reinterpret<__m256i>(exponent + 1023);
  const __m256i low = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(biased));
  const __m256i high = _mm256_cvtepi32_epi64(_mm256_extracti128_si256(biased, 1));
  return {reinterpret<F64>(_mm256_slli_epi64(low, 52)), reinterpret<F64>(_mm256_slli_epi64(high, 52))};
}
MONOJIT_LANE_FUNCTION F32 scale_down(F32 x, F32 scale) {
  // The minimum keeps a tiny negative x, which scaling may round to zero, below zero: it gives -1.
  const F32 steered = x < splat(0.0F) ? splat(-0.5F) : splat(3e38F);
  const F32 scaled = x * scale;
  return reinterpret<F32>(_mm256_floor_ps(reinterpret<__m256>(scaled < steered ? scaled : steered)));
}
MONOJIT_LANE_FUNCTION I32 scale_down_to_int(F32 x, F32 scale) {
  return __builtin_convertvector(scale_down(x, scale), I32);
}
MONOJIT_LANE_FUNCTION I8 add_saturated(I8 x, I8 y) {
  return reinterpret<I8>(_mm256_adds_epi8(reinterpret<__m256i>(x), reinterpret<__m256i>(y)));
}
MONOJIT_LANE_FUNCTION I16 multiply_add_bytes(I8 x, I8 y) {
  return reinterpret<I16>(_mm256_maddubs_epi16(reinterpret<__m256i>(x), reinterpret<__m256i>(y)));
}
MONOJIT_LANE_FUNCTION I32 multiply_add_halves(I16 x, I16 y) {
  return reinterpret<I32>(_mm256_madd_epi16(reinterpret<__m256i>(x), reinterpret<__m256i>(y)));
}
MONOJIT_LANE_FUNCTION I8 look_up(const std::int8_t* table, I8 index) {
  const __m256i wide = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
  return reinterpret<I8>(_mm256_shuffle_epi8(wide, reinterpret<__m256i>(index)));
}
#endif

/// Whether an element of a comparison's result is true.
MONOJIT_LANE_FUNCTION bool any(I32 mask) { return sign_bits(mask) != 0; }
MONOJIT_LANE_FUNCTION bool all(I32 mask) { return sign_bits(mask) == 0xFFFFFFFFU >> (32 - kWidth); }

/// The largest element.
MONOJIT_LANE_FUNCTION std::int32_t largest_element(I32 x) {
  using Quarter = std::int32_t __attribute__((vector_size(16)));
  Quarter parts[kWidth / 4];
  __builtin_memcpy(parts, &x, sizeof parts);
  Quarter largest = parts[0];
  for (const Quarter part : parts) largest = part > largest ? part : largest;
  const auto fold = [&](Quarter other) { largest = other > largest ? other : largest; };
  fold(__builtin_shufflevector(largest, largest, 2, 3, 0, 1));
  fold(__builtin_shufflevector(largest, largest, 1, 0, 3, 2));
  return largest[0];
}

/// Element n is element n - 1 of `x`, element 0 the last of `before`.
MONOJIT_LANE_FUNCTION U32 shift_in(U32 before, U32 x) {
#if defined(__AVX512F__)
  return __builtin_shufflevector(before, x, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
#else
  return __builtin_shufflevector(before, x, 7, 8, 9, 10, 11, 12, 13, 14);
#endif
}

/// Towards zero; what does not fit gives some value.
MONOJIT_LANE_FUNCTION I32 truncate(F32 x) { return __builtin_convertvector(x, I32); }
MONOJIT_LANE_FUNCTION F32 to_float(I32 x) { return __builtin_convertvector(x, F32); }

MONOJIT_LANE_FUNCTION F64Pair operator*(F64Pair x, F64Pair y) { return {x.low * y.low, x.high * y.high}; }
MONOJIT_LANE_FUNCTION F64Pair operator+(F64Pair x, F64Pair y) { return {x.low + y.low, x.high + y.high}; }
MONOJIT_LANE_FUNCTION F64Pair operator-(F64Pair x, F64Pair y) { return {x.low - y.low, x.high - y.high}; }

/// 2^exponent of each element; exponents within the type's normal range.
MONOJIT_LANE_FUNCTION F32 power_of_two(I32 exponent) { return reinterpret<F32>((exponent + 127) << 23); }

/// numerics::widen_magnitude of each element.
template <numerics::SmallFormat F>
MONOJIT_LANE_FUNCTION F32 widen_magnitudes(I32 codes) {
  constexpr std::int32_t kHidden = 1 << F.mantissa_bits;
  const I32 denormal = codes < kHidden;
  const I32 normal = ((codes | (denormal & kHidden)) << F.dropped_bits()) + ((127 - F.bias) << 23);
  return reinterpret<F32>(normal) - reinterpret<F32>(denormal & ((128 - F.bias) << 23));
}

}  // namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE
