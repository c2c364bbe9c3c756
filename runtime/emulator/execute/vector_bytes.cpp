// VOP3: operations on the bytes of a register.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/lanes.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

MONOJIT_EMULATOR_INLINE u32 byte_of(u32 x, u32 index) { return x >> (8 * index) & 0xff; }
MONOJIT_EMULATOR_INLINE u32 distance(u32 a, u32 b) { return a > b ? a - b : b - a; }

MONOJIT_EMULATOR_INLINE u32 byte_distances(u32 a, u32 b) {
  u32 sum = 0;
  for (u32 i = 0; i < 4; ++i) sum += distance(byte_of(a, i), byte_of(b, i));
  return sum;
}

/// Without the bytes whose reference is zero.
MONOJIT_EMULATOR_INLINE u32 masked_distances(u32 a, u32 reference) {
  u32 sum = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 r = byte_of(reference, i);
    sum += r == 0 ? 0 : distance(byte_of(a, i), r);
  }
  return sum;
}

/// Four sums of 16 bits: of four bytes from each of the first four places of a on.
template <auto kDistances>
MONOJIT_EMULATOR_INLINE u64 window_distances(u64 a, u32 b, u64 c, bool saturate) {
  u64 result = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 sum = kDistances(static_cast<u32>(a >> (8 * i)), b) + static_cast<u32>(c >> (16 * i) & 0xffff);
    result |= u64{saturate && sum > 0xffff ? 0xffff : sum & 0xffff} << (16 * i);
  }
  return result;
}

/// Each byte (a + b + round) / 2; `c` holds the rounding in the low bit of each byte.
MONOJIT_EMULATOR_INLINE u32 interpolated(u32 a, u32 b, u32 c) {
  u32 result = 0;
  for (u32 i = 0; i < 4; ++i) result |= (byte_of(a, i) + byte_of(b, i) + (byte_of(c, i) & 1)) >> 1 << (8 * i);
  return result;
}

template <i32 kLow, i32 kHigh>
MONOJIT_EMULATOR_INLINE u32 shifted_byte(i32 x, u32 shift) {
  const i32 shifted = x >> (shift & 31);
  return static_cast<u32>(shifted < kLow ? kLow : shifted > kHigh ? kHigh : shifted) & 0xff;
}

MONOJIT_EMULATOR_INLINE u32 clamped_sum(u32 sum, u32 addend) {
  const u64 whole = u64{sum} + addend;
  return whole > ~u32{0} ? ~u32{0} : static_cast<u32>(whole);
}

/// Eight lanes of a source of v_perm_b32.
template <bool kIsRow>
MONOJIT_EMULATOR_INLINE __m256i eight_lanes(Wave& wave, u32 offset, u32 lane) {
  if constexpr (kIsRow) return _mm256_load_si256(reinterpret_cast<const __m256i*>(wave.row(offset) + lane));
  return _mm256_set1_epi32(static_cast<int>(wave.word(offset)));
}

/// v_perm_b32 of eight lanes: selector bytes 0..7 pick a byte of {high, low}, 8..11 the sign of byte 1, 3, 5 or 7, 12
/// zero, from 13 on 0xff.
MONOJIT_EMULATOR_INLINE __m256i permuted_bytes(__m256i high, __m256i low, __m256i selector) {
  const auto bytes = [](char value) { return _mm256_set1_epi8(value); };
  const auto at_least = [&](char value) {
    return _mm256_cmpeq_epi8(_mm256_max_epu8(selector, bytes(value)), selector);
  };
  const __m256i special = at_least(8);
  const __m256i odd_byte = _mm256_add_epi8(_mm256_add_epi8(selector, selector), bytes(1));
  const __m256i byte = _mm256_and_si256(_mm256_blendv_epi8(selector, odd_byte, special), bytes(7));
  // Two lanes' eight bytes each make one 16-byte table; their selectors stand in its first and third word.
  const __m256i second = _mm256_set1_epi64x(0);
  const __m256i base = _mm256_setr_epi64x(0, 0x0808080808080808, 0, 0x0808080808080808);
  const auto half = [&](__m256i table, __m256i index) {
    return _mm256_castsi256_ps(_mm256_shuffle_epi8(table, _mm256_add_epi8(index, base)));
  };
  const __m256 first_lanes = half(_mm256_unpacklo_epi32(low, high), _mm256_unpacklo_epi32(byte, second));
  const __m256 last_lanes = half(_mm256_unpackhi_epi32(low, high), _mm256_unpackhi_epi32(byte, second));
  const __m256i picked = _mm256_castps_si256(_mm256_shuffle_ps(first_lanes, last_lanes, 0x88));
  const __m256i sign = _mm256_andnot_si256(at_least(12), _mm256_cmpgt_epi8(_mm256_setzero_si256(), picked));
  const __m256i chosen = _mm256_blendv_epi8(picked, sign, special);
  return _mm256_or_si256(chosen, at_least(13));
}

template <u32 kRows>
void permute_bytes(Wave& wave, const MicroOp* op) {
  u32* const staged = wave.worker->staging[kResultStaging];
  for (u32 lane = 0; lane < kLanes; lane += 8) {
    const __m256i result = permuted_bytes(eight_lanes<(kRows & 1) != 0>(wave, op->a, lane),
                                          eight_lanes<(kRows & 2) != 0>(wave, op->b, lane),
                                          eight_lanes<(kRows & 4) != 0>(wave, op->c, lane));
    _mm256_store_si256(reinterpret_cast<__m256i*>(staged + lane), result);
  }
  store_masked(wave.row(op->dst), staged, wave.exec());
  MONOJIT_EMULATOR_NEXT(wave, op);
}

consteval Entry byte_permutation() {
  constexpr OperandType kWord = OperandType::k32;
  return {.mnemonic = "v_perm_b32",
          .form = Form::kVector,
          .count = CountClass::kVector,
          .result = kWord,
          .source_count = 3,
          .sources = {kWord, kWord, kWord},
          .handlers = {permute_bytes<0>, permute_bytes<1>, permute_bytes<2>, permute_bytes<3>, permute_bytes<4>,
                       permute_bytes<5>, permute_bytes<6>, permute_bytes<7>}};
}

constexpr Entry kEntries[] = {
    byte_permutation(),
    vector<[](u32 a, u32 b, u32 c) { return byte_distances(a, b) + c; }>("v_sad_u8"),
    vector<[](u32 a, u32 b, u32 c) { return clamped_sum(byte_distances(a, b), c); }>("v_sad_u8+clamp"),
    vector<[](u32 a, u32 b, u32 c) { return (byte_distances(a, b) << 16) + c; }>("v_sad_hi_u8"),
    vector<[](u32 a, u32 b, u32 c) { return clamped_sum(byte_distances(a, b) << 16, c); }>("v_sad_hi_u8+clamp"),
    vector<[](u32 a, u32 b, u32 c) { return masked_distances(a, b) + c; }>("v_msad_u8"),
    vector<[](u32 a, u32 b, u32 c) { return clamped_sum(masked_distances(a, b), c); }>("v_msad_u8+clamp"),
    vector<[](u64 a, u32 b, u64 c) { return window_distances<byte_distances>(a, b, c, false); }>("v_qsad_pk_u16_u8"),
    vector<[](u64 a, u32 b, u64 c) { return window_distances<byte_distances>(a, b, c, true); }>(
        "v_qsad_pk_u16_u8+clamp"),
    vector<[](u64 a, u32 b, u64 c) { return window_distances<masked_distances>(a, b, c, false); }>("v_mqsad_pk_u16_u8"),
    vector<[](u64 a, u32 b, u64 c) { return window_distances<masked_distances>(a, b, c, true); }>(
        "v_mqsad_pk_u16_u8+clamp"),
    {.mnemonic = "v_mqsad_u32_u8", .form = Form::kWindows, .count = CountClass::kVector, .base = "v_msad_u8"},
    vector<[](u32 a, u32 b, u32 c) { return interpolated(a, b, c); }>("v_lerp_u8"),
    vector<[](i32 a, i32 b, u32 c) {
      return static_cast<u16>(shifted_byte<-128, 127>(a, c) | shifted_byte<-128, 127>(b, c) << 8);
    }>("v_ashr_pk_i8_i32", kInsertsHalf),
    vector<[](i32 a, i32 b, u32 c) {
      return static_cast<u16>(shifted_byte<0, 255>(a, c) | shifted_byte<0, 255>(b, c) << 8);
    }>("v_ashr_pk_u8_i32", kInsertsHalf),
};

}  // namespace

std::span<const Entry> vector_byte_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
