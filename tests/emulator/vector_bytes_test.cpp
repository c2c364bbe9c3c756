// Operations on the bytes of registers, and integers that saturate, against definitions over single fields.
#include <algorithm>

#include <catch2/catch_test_macros.hpp>

#include "tests/emulator/lane_cases.h"
#include "tests/emulator/lane_values.h"

namespace monojit::emulator::test {
namespace {

using std::int64_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;

/// Sum of the distances of four bytes; with `masked`, without those where b is zero.
int64_t distances(uint64_t a, uint64_t b, bool masked = false) {
  int64_t sum = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const int64_t x = field(a, 8 * i, 8, false), y = field(b, 8 * i, 8, false);
    if (!masked || y != 0) sum += std::abs(x - y);
  }
  return sum;
}

uint64_t windows(const Lane& l, bool masked, bool saturate) {
  uint64_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const int64_t sum = distances(l.a >> (8 * i), l.b, masked) + field(l.c, 16 * i, 16, false);
    result |= static_cast<uint64_t>(saturate ? limited(sum, 0, 0xffff) : sum & 0xffff) << (16 * i);
  }
  return result;
}

int64_t dot(const Lane& l, unsigned count, bool is_signed) {
  const unsigned width = 32 / count;
  int64_t sum = 0;
  for (unsigned i = 0; i < count; ++i)
    sum += field(l.a, width * i, width, is_signed) * field(l.b, width * i, width, is_signed);
  return sum;
}

uint64_t limit_i32(int64_t x) { return u(limited(x, INT32_MIN, INT32_MAX)); }
uint64_t limit_u32(int64_t x) { return u(limited(x, 0, UINT32_MAX)); }
int64_t ua(const Lane& l) { return l.a32(); }
int64_t ub(const Lane& l) { return l.b32(); }
int64_t uc(const Lane& l) { return l.c32(); }
int64_t sc(const Lane& l) { return s(l.c32()); }
/// One half as a number.
int64_t half(uint64_t word, unsigned index, bool is_signed) { return field(word, 16 * index, 16, is_signed); }

TEST_CASE("sums of byte distances") {
  const LaneCase cases[] = {
      {"v_sad_u8 v10, v2, v4, v6", Match::kBits32, [](const Lane& l) { return u(distances(l.a, l.b) + uc(l)); }},
      {"v_sad_u8 v10, v2, v4, v6 clamp", Match::kBits32,
       [](const Lane& l) { return limit_u32(distances(l.a, l.b) + uc(l)); }},
      {"v_sad_hi_u8 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) { return u(distances(l.a, l.b) * 0x10000 + uc(l)); }},
      {"v_sad_u16 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) {
         return u(std::abs(half(l.a, 0, false) - half(l.b, 0, false)) +
                  std::abs(half(l.a, 1, false) - half(l.b, 1, false)) + uc(l));
       }},
      {"v_msad_u8 v10, v2, v4, v6", Match::kBits32, [](const Lane& l) { return u(distances(l.a, l.b, true) + uc(l)); }},
      {"v_qsad_pk_u16_u8 v[10:11], v[2:3], v4, v[6:7]", Match::kBits64,
       [](const Lane& l) { return windows(l, false, false); }},
      {"v_qsad_pk_u16_u8 v[10:11], v[2:3], v4, v[6:7] clamp", Match::kBits64,
       [](const Lane& l) { return windows(l, false, true); }},
      {"v_mqsad_pk_u16_u8 v[10:11], v[2:3], v4, v[6:7]", Match::kBits64,
       [](const Lane& l) { return windows(l, true, false); }},
      {"v_mov_b64 v[14:15], v[6:7]\n v_mov_b64 v[16:17], v[2:3]\n v_mqsad_u32_u8 v[14:17], v[2:3], v4, v[14:17]\n"
       " v_mov_b64 v[10:11], v[14:15]",
       Match::kBits64,
       [](const Lane& l) {
         return uint64_t{u(distances(l.a, l.b, true) + uc(l))} |
                uint64_t{u(distances(l.a >> 8, l.b, true) + static_cast<int64_t>(l.c >> 32))} << 32;
       }},
      {"v_mov_b64 v[14:15], v[6:7]\n v_mov_b64 v[16:17], v[2:3]\n v_mqsad_u32_u8 v[14:17], v[2:3], s24, v[14:17]\n"
       " v_mov_b64 v[10:11], v[16:17]",
       Match::kBits64,
       [](const Lane& l) {
         return uint64_t{u(distances(l.a >> 16, l.d, true) + ua(l))} |
                uint64_t{u(distances(l.a >> 24, l.d, true) + static_cast<int64_t>(l.a >> 32))} << 32;
       }},
  };
  check_lane_cases(cases, Values::kIntegers);
}

TEST_CASE("bytes are interpolated, shifted together and saturated") {
  const auto pair = [](int64_t low, int64_t high, int64_t least, int64_t most) {
    return (static_cast<uint32_t>(limited(low, least, most)) & 0xff) |
           (static_cast<uint32_t>(limited(high, least, most)) & 0xff) << 8;
  };
  const LaneCase cases[] = {
      {"v_lerp_u8 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) {
         int64_t r = 0;
         for (unsigned i = 0; i < 4; ++i) {
           r |= (field(l.a, 8 * i, 8, false) + field(l.b, 8 * i, 8, false) + field(l.c, 8 * i, 1, false)) / 2 << 8 * i;
         }
         return u(r);
       }},
      {"v_ashr_pk_i8_i32 v10, v2, v4, v6", Match::kBits32,
       [=](const Lane& l) {
         const uint32_t by = l.c32() & 31;
         return low_half(kOldResult, pair(s(l.a32()) >> by, s(l.b32()) >> by, -128, 127));
       }},
      {"v_ashr_pk_u8_i32 v10, v2, v4, 3 op_sel:[0,0,0,1]", Match::kBits32,
       [=](const Lane& l) { return high_half(kOldResult, pair(s(l.a32()) >> 3, s(l.b32()) >> 3, 0, 255)); }},
      {"v_sat_pk_u8_i16 v10, v2", Match::kBits32,
       [=](const Lane& l) { return pair(half(l.a, 0, true), half(l.a, 1, true), 0, 255); }},
      {"v_perm_b32 v10, v2, s24, v6", Match::kBits32,
       [](const Lane& l) {
         const uint64_t both = uint64_t{l.a32()} << 32 | l.d32();
         int64_t r = 0;
         for (unsigned i = 0; i < 4; ++i) {
           const unsigned selector = l.c32() >> (8 * i) & 0xff;
           const int64_t byte = selector >= 13   ? 0xff
                                : selector == 12 ? 0
                                : selector >= 8  ? field(both, 16 * (selector - 8) + 15, 1, true) & 0xff
                                                 : field(both, 8 * selector, 8, false);
           r |= byte << 8 * i;
         }
         return u(r);
       }},
      {"v_cvt_off_f32_i4 v10, v2", Match::kFloat32,
       [](const Lane& l) { return bits(static_cast<float>(field(l.a, 0, 4, true)) / 16); }},
  };
  check_lane_cases(cases, Values::kIntegers);
}

TEST_CASE("clamped integers saturate") {
  const LaneCase cases[] = {
      {"v_mul_u32_u24_e64 v10, v2, v4 clamp", Match::kBits32,
       [](const Lane& l) { return limit_u32(field(l.a, 0, 24, false) * field(l.b, 0, 24, false)); }},
      {"v_mul_i32_i24_e64 v10, v2, v4 clamp", Match::kBits32,
       [](const Lane& l) { return limit_i32(sext24(l.a32()) * sext24(l.b32())); }},
      {"v_mad_u32_u24 v10, v2, v4, v6 clamp", Match::kBits32,
       [](const Lane& l) { return limit_u32(field(l.a, 0, 24, false) * field(l.b, 0, 24, false) + uc(l)); }},
      {"v_mad_i32_i24 v10, v2, v4, v6 clamp", Match::kBits32,
       [](const Lane& l) { return limit_i32(sext24(l.a32()) * sext24(l.b32()) + sc(l)); }},
      {"v_mad_u32_u16 v10, v2, v4, v6 clamp", Match::kBits32,
       [](const Lane& l) { return limit_u32(half(l.a, 0, false) * half(l.b, 0, false) + uc(l)); }},
      {"v_mad_i32_i16 v10, v2, v4, v6 clamp", Match::kBits32,
       [](const Lane& l) { return limit_i32(half(l.a, 0, true) * half(l.b, 0, true) + sc(l)); }},
      {"v_mul_lo_u16_sdwa v10, v2, v4 clamp dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_0",
       Match::kBits32, [](const Lane& l) { return u(limited(half(l.a, 0, false) * half(l.b, 0, false), 0, 0xffff)); }},
      {"v_mad_u16 v10, v2, v4, v6 clamp", Match::kBits32,
       [](const Lane& l) {
         const int64_t sum = half(l.a, 0, false) * half(l.b, 0, false) + half(l.c, 0, false);
         return low_half(kOldResult, static_cast<uint64_t>(limited(sum, 0, 0xffff)));
       }},
      {"v_mad_legacy_i16 v10, v2, v4, v6 clamp", Match::kBits32,
       [](const Lane& l) {
         const int64_t sum = half(l.a, 0, true) * half(l.b, 0, true) + half(l.c, 0, true);
         return u(limited(sum, -0x8000, 0x7fff)) & 0xffff;
       }},
      {"v_mad_u64_u32 v[10:11], s[22:23], v2, v4, v[6:7] clamp", Match::kBits64,
       [](const Lane& l) {
         const u128 sum = static_cast<u128>(l.a32()) * l.b32() + l.c;
         return sum >> 64 != 0 ? ~uint64_t{0} : static_cast<uint64_t>(sum);
       }},
      {"v_mad_i64_i32 v[10:11], s[22:23], v2, v4, v[6:7] clamp", Match::kBits64,
       [](const Lane& l) {
         int64_t sum = 0;
         const int64_t product = int64_t{s(l.a32())} * s(l.b32());
         const bool overflow = __builtin_add_overflow(product, static_cast<int64_t>(l.c), &sum);
         return static_cast<uint64_t>(!overflow ? sum : product < 0 ? INT64_MIN : INT64_MAX);
       }},
      {"v_sad_u32 v10, v2, v4, v6 clamp", Match::kBits32,
       [](const Lane& l) { return limit_u32(std::abs(ua(l) - ub(l)) + uc(l)); }},
      {"v_add_co_u32_e64 v10, s[22:23], v2, v4 clamp", Match::kBits32Mask,
       [](const Lane& l) { return limit_u32(ua(l) + ub(l)) | uint64_t{ua(l) + ub(l) > UINT32_MAX} << 32; }},
      {"v_subb_co_u32_e64 v10, s[22:23], v2, v4, s[20:21] clamp", Match::kBits32Mask,
       [](const Lane& l) {
         const int64_t difference = ua(l) - ub(l) - (l.mask ? 1 : 0);
         return limit_u32(difference) | uint64_t{difference < 0} << 32;
       }},
      {"v_subrev_u16_e64 v10, v2, v4 clamp", Match::kBits32,
       [](const Lane& l) { return u(limited(half(l.b, 0, false) - half(l.a, 0, false), 0, 0xffff)); }},
      {"v_dot4_i32_i8 v10, v2, v4, v6 clamp", Match::kBits32,
       [](const Lane& l) { return limit_i32(dot(l, 4, true) + sc(l)); }},
      {"v_dot4_u32_u8 v10, v2, v4, v6 clamp", Match::kBits32,
       [](const Lane& l) { return limit_u32(dot(l, 4, false) + uc(l)); }},
      {"v_dot2_i32_i16 v10, v2, v4, v6 clamp", Match::kBits32,
       [](const Lane& l) { return limit_i32(dot(l, 2, true) + sc(l)); }},
      {"v_dot8_u32_u4 v10, v2, v4, v6 clamp", Match::kBits32,
       [](const Lane& l) { return limit_u32(dot(l, 8, false) + uc(l)); }},
      {"v_dot8_i32_i4 v10, v2, v4, v6", Match::kBits32, [](const Lane& l) { return u(dot(l, 8, true) + sc(l)); }},
      {"v_pk_mul_lo_u16 v10, v2, v4 clamp", Match::kBits32,
       [](const Lane& l) {
         const auto product = [&](unsigned i) { return limited(half(l.a, i, false) * half(l.b, i, false), 0, 0xffff); };
         return u(product(0) | product(1) << 16);
       }},
      {"v_pk_mad_i16 v10, v2, v4, v6 clamp", Match::kBits32,
       [](const Lane& l) {
         const auto sum = [&](unsigned i) {
           const int64_t exact = half(l.a, i, true) * half(l.b, i, true) + half(l.c, i, true);
           return limited(exact, -0x8000, 0x7fff) & 0xffff;
         };
         return u(sum(0) | sum(1) << 16);
       }},
      {"v_max_i32_e64 v10, v2, v4", Match::kBits32, [](const Lane& l) { return u(std::max(s(l.a32()), s(l.b32()))); }},
  };
  check_lane_cases(cases, Values::kIntegers);
}

}  // namespace
}  // namespace monojit::emulator::test
