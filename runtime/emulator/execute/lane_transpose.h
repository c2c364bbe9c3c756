// All lanes' 8 or 16 bytes between memory and registers, where word n of a lane lies in row n. A lane's data move by
// one host instruction, as access.h promises; the rest is a transposition in the host's registers.
#pragma once

#include <immintrin.h>

#include "runtime/emulator/numerics/host_isa.h"
#include "runtime/emulator/types.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {

MONOJIT_EMULATOR_INLINE void load_pairs(u32* result, const u8* base, const u32* offsets) {
  const auto pair = [&](u32 lane) {
    const __m128 low = _mm_castpd_ps(_mm_load_sd(reinterpret_cast<const double*>(base + offsets[lane])));
    return _mm_loadh_pi(low, reinterpret_cast<const __m64*>(base + offsets[lane + 1]));
  };
  for (u32 lane = 0; lane < kLanes; lane += 4) {
    const __m128 first = pair(lane), second = pair(lane + 2);
    float* const to = reinterpret_cast<float*>(result + lane);
    _mm_store_ps(to, _mm_shuffle_ps(first, second, _MM_SHUFFLE(2, 0, 2, 0)));
    _mm_store_ps(to + kLanes, _mm_shuffle_ps(first, second, _MM_SHUFFLE(3, 1, 3, 1)));
  }
}

MONOJIT_EMULATOR_INLINE void store_pairs(const u32* data, u8* base, const u32* offsets) {
  const auto put = [&](u32 lane, __m128 lanes) {
    _mm_storel_pi(reinterpret_cast<__m64*>(base + offsets[lane]), lanes);
    _mm_storeh_pi(reinterpret_cast<__m64*>(base + offsets[lane + 1]), lanes);
  };
  for (u32 lane = 0; lane < kLanes; lane += 4) {
    const float* const from = reinterpret_cast<const float*>(data + lane);
    const __m128 low = _mm_load_ps(from), high = _mm_load_ps(from + kLanes);
    put(lane, _mm_unpacklo_ps(low, high));
    put(lane + 2, _mm_unpackhi_ps(low, high));
  }
}

#if defined(__AVX512F__)

/// Transposes 4 x 4 words in each 128 bits.
MONOJIT_EMULATOR_INLINE void transpose_quads(__m512i (&rows)[4]) {
  const __m512i low01 = _mm512_unpacklo_epi32(rows[0], rows[1]);
  const __m512i high01 = _mm512_unpackhi_epi32(rows[0], rows[1]);
  const __m512i low23 = _mm512_unpacklo_epi32(rows[2], rows[3]);
  const __m512i high23 = _mm512_unpackhi_epi32(rows[2], rows[3]);
  rows[0] = _mm512_unpacklo_epi64(low01, low23);
  rows[1] = _mm512_unpackhi_epi64(low01, low23);
  rows[2] = _mm512_unpacklo_epi64(high01, high23);
  rows[3] = _mm512_unpackhi_epi64(high01, high23);
}

MONOJIT_EMULATOR_INLINE void load_quads(u32* result, const u8* base, const u32* offsets) {
  for (u32 first = 0; first < kLanes; first += 16) {
    const auto quad = [&](u32 lane) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(base + offsets[first + lane]));
    };
    __m512i rows[4];
    for (u32 i = 0; i < 4; ++i) {
      rows[i] = _mm512_castsi128_si512(quad(i));
      rows[i] = _mm512_inserti32x4(rows[i], quad(i + 4), 1);
      rows[i] = _mm512_inserti32x4(rows[i], quad(i + 8), 2);
      rows[i] = _mm512_inserti32x4(rows[i], quad(i + 12), 3);
    }
    transpose_quads(rows);
    for (u32 i = 0; i < 4; ++i) _mm512_store_si512(result + kLanes * i + first, rows[i]);
  }
}

MONOJIT_EMULATOR_INLINE void store_quads(const u32* data, u8* base, const u32* offsets) {
  for (u32 first = 0; first < kLanes; first += 16) {
    __m512i rows[4];
    for (u32 i = 0; i < 4; ++i) rows[i] = _mm512_load_si512(data + kLanes * i + first);
    transpose_quads(rows);
    const auto put = [&](u32 lane, __m128i quad) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(base + offsets[first + lane]), quad);
    };
    // In the order of the lanes: of two that write to one place the higher wins.
    for (u32 i = 0; i < 4; ++i) put(i, _mm512_castsi512_si128(rows[i]));
    for (u32 i = 0; i < 4; ++i) put(i + 4, _mm512_extracti32x4_epi32(rows[i], 1));
    for (u32 i = 0; i < 4; ++i) put(i + 8, _mm512_extracti32x4_epi32(rows[i], 2));
    for (u32 i = 0; i < 4; ++i) put(i + 12, _mm512_extracti32x4_epi32(rows[i], 3));
  }
}

#else

MONOJIT_EMULATOR_INLINE void load_quads(u32* result, const u8* base, const u32* offsets) {
  for (u32 lane = 0; lane < kLanes; lane += 4) {
    __m128 row[4];
    for (u32 i = 0; i < 4; ++i) row[i] = _mm_loadu_ps(reinterpret_cast<const float*>(base + offsets[lane + i]));
    _MM_TRANSPOSE4_PS(row[0], row[1], row[2], row[3]);
    for (u32 i = 0; i < 4; ++i) _mm_store_ps(reinterpret_cast<float*>(result + kLanes * i + lane), row[i]);
  }
}

MONOJIT_EMULATOR_INLINE void store_quads(const u32* data, u8* base, const u32* offsets) {
  for (u32 lane = 0; lane < kLanes; lane += 4) {
    __m128 row[4];
    for (u32 i = 0; i < 4; ++i) row[i] = _mm_load_ps(reinterpret_cast<const float*>(data + kLanes * i + lane));
    _MM_TRANSPOSE4_PS(row[0], row[1], row[2], row[3]);
    for (u32 i = 0; i < 4; ++i) _mm_storeu_ps(reinterpret_cast<float*>(base + offsets[lane + i]), row[i]);
  }
}

#endif

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
