// Bytes and 16-bit integers in registers: SDWA, op_sel, packed operations.
#include <algorithm>

#include <catch2/catch_test_macros.hpp>

#include "tests/emulator/lane_cases.h"
#include "tests/emulator/lane_values.h"

namespace monojit::emulator::test {
namespace {

using std::int16_t;
using std::int64_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;

TEST_CASE("SDWA selects bytes and halves of sources and destination") {
  const LaneCase cases[] = {
      {"v_add_u32_sdwa v10, v2, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1", Match::kBits32,
       [](const Lane& l) { return (l.a32() >> 8 & 0xff) + (l.b32() >> 16); }},
      {"v_add_u32_sdwa v10, v2, sext(v4) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_2",
       Match::kBits32, [](const Lane& l) { return l.a32() + u(static_cast<int8_t>(l.b32() >> 16)); }},
      {"v_add_u32_sdwa v10, v2, v4 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD",
       Match::kBits32, [](const Lane& l) { return 0x5a5a005a | ((l.a32() + l.b32()) & 0xff) << 8; }},
      {"v_add_u32_sdwa v10, v2, v4 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD", Match::kBits32,
       [](const Lane& l) { return (l.a32() + l.b32()) << 16; }},
      {"v_add_u32_sdwa v10, v2, v4 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:DWORD src1_sel:DWORD", Match::kBits32,
       [](const Lane& l) { return u(static_cast<int8_t>(l.a32() + l.b32())) << 8; }},
      {"v_cmp_lt_u32_sdwa s[22:23], v2, v4 src0_sel:BYTE_0 src1_sel:WORD_1", Match::kMask,
       [](const Lane& l) { return (l.a32() & 0xff) < l.b32() >> 16; }},
      {"v_mov_b32_sdwa v10, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1", Match::kBits32,
       [](const Lane& l) { return l.a32() >> 16; }},
      {"v_lshlrev_b32_sdwa v10, v2, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:BYTE_0",
       Match::kBits32, [](const Lane& l) { return (l.b32() & 0xff) << (l.a32() >> 24 & 31); }},
  };
  check_lane_cases(cases, Values::kIntegers);
}

TEST_CASE("16-bit integers") {
  const auto half = [](uint64_t x) { return static_cast<uint16_t>(x); };
  const LaneCase cases[] = {
      {"v_add_u16 v10, v2, v4", Match::kBits32, [=](const Lane& l) { return half(l.a + l.b); }},
      {"v_sub_u16 v10, v2, v4", Match::kBits32, [=](const Lane& l) { return half(l.a - l.b); }},
      {"v_mul_lo_u16 v10, v2, v4", Match::kBits32, [=](const Lane& l) { return half(l.a32() * l.b32()); }},
      {"v_lshlrev_b16 v10, v2, v4", Match::kBits32, [=](const Lane& l) { return half(l.b32() << (l.a32() & 15)); }},
      {"v_ashrrev_i16 v10, v2, v4", Match::kBits32,
       [=](const Lane& l) { return half(u(static_cast<int16_t>(l.b) >> (l.a32() & 15))); }},
      {"v_max_i16 v10, v2, v4", Match::kBits32,
       [=](const Lane& l) { return half(u(std::max(static_cast<int16_t>(l.a), static_cast<int16_t>(l.b)))); }},
      {"v_mad_u16 v10, v2, v4, v6 op_sel:[1,0,0,0]", Match::kBits32,
       [=](const Lane& l) { return low_half(kOldResult, (l.a32() >> 16) * half(l.b) + l.c); }},
      {"v_mad_legacy_u16 v10, v2, v4, v6", Match::kBits32,
       [=](const Lane& l) { return half(uint32_t{half(l.a)} * half(l.b) + l.c); }},
      {"v_mad_u16 v10, v2, v4, v6 op_sel:[0,0,0,1]", Match::kBits32,
       [=](const Lane& l) { return 0x5a5a | uint32_t{half(uint32_t{half(l.a)} * half(l.b) + l.c)} << 16; }},
      {"v_bitop3_b16 v10, v2, v4, v6 bitop3:0x6c op_sel:[1,0,1,0]", Match::kBits32,
       [](const Lane& l) {
         uint32_t r = 0;
         for (int i = 0; i < 16; ++i) {
           const uint32_t index = (l.a32() >> (16 + i) & 1) << 2 | (l.b32() >> i & 1) << 1 | (l.c32() >> (16 + i) & 1);
           r |= (0x6cu >> index & 1) << i;
         }
         return r;
       }},
      {"v_min_i16 v10, v2, v4", Match::kBits32,
       [=](const Lane& l) { return half(u(std::min(static_cast<int16_t>(l.a), static_cast<int16_t>(l.b)))); }},
      {"v_min_u16 v10, v2, v4", Match::kBits32, [=](const Lane& l) { return std::min(half(l.a), half(l.b)); }},
      {"v_max_u16 v10, v2, v4", Match::kBits32, [=](const Lane& l) { return std::max(half(l.a), half(l.b)); }},
      {"v_lshrrev_b16 v10, v2, v4", Match::kBits32, [=](const Lane& l) { return half(l.b) >> (l.a32() & 15); }},
      {"v_min3_u16 v10, v2, v4, v6", Match::kBits32,
       [=](const Lane& l) { return std::min({half(l.a), half(l.b), half(l.c)}); }},
      {"v_max3_i16 v10, v2, v4, v6 op_sel:[0,1,0,0]", Match::kBits32,
       [=](const Lane& l) {
         return half(u(std::max({field(l.a, 0, 16, true), field(l.b, 16, 16, true), field(l.c, 0, 16, true)})));
       }},
      {"v_med3_i16 v10, v2, v4, v6", Match::kBits32,
       [=](const Lane& l) {
         std::int64_t x[] = {field(l.a, 0, 16, true), field(l.b, 0, 16, true), field(l.c, 0, 16, true)};
         std::ranges::sort(x);
         return half(static_cast<uint64_t>(x[1]));
       }},
      {"v_add_i16 v10, v2, v4 op_sel:[0,1,1]", Match::kBits32,
       [=](const Lane& l) { return high_half(kOldResult, l.a + (l.b >> 16)); }},
      {"v_sub_i16 v10, v2, v4 clamp", Match::kBits32,
       [=](const Lane& l) {
         return half(
             static_cast<uint64_t>(limited(field(l.a, 0, 16, true) - field(l.b, 0, 16, true), -0x8000, 0x7fff)));
       }},
      {"v_pk_sub_i16 v10, v2, v4", Match::kBits32,
       [=](const Lane& l) { return half(l.a - l.b) | uint32_t{half((l.a32() >> 16) - (l.b32() >> 16))} << 16; }},
      {"v_pk_ashrrev_i16 v10, v2, v4", Match::kBits32,
       [=](const Lane& l) {
         const auto shifted = [&](unsigned i) {
           return field(l.b, 16 * i, 16, true) >> field(l.a, 16 * i, 4, false) & 0xffff;
         };
         return u(shifted(0) | shifted(1) << 16);
       }},
      {"v_pk_lshrrev_b16 v10, v2, v4", Match::kBits32,
       [=](const Lane& l) {
         const auto shifted = [&](unsigned i) { return field(l.b, 16 * i, 16, false) >> field(l.a, 16 * i, 4, false); };
         return u(shifted(0) | shifted(1) << 16);
       }},
      {"v_pk_min_u16 v10, v2, v4 op_sel_hi:[1,0]", Match::kBits32,
       [=](const Lane& l) {
         return std::min(half(l.a), half(l.b)) | uint32_t{std::min(half(l.a >> 16), half(l.b))} << 16;
       }},
      {"v_pk_mad_u16 v10, v2, v4, v6", Match::kBits32,
       [=](const Lane& l) {
         const auto sum = [&](unsigned i) {
           return uint32_t{half(l.a >> 16 * i)} * half(l.b >> 16 * i) + half(l.c >> 16 * i);
         };
         return half(sum(0)) | uint32_t{half(sum(1))} << 16;
       }},
      {"v_mov_b32 v10, v6\n v_dot4c_i32_i8 v10, v2, v4", Match::kBits32,
       [](const Lane& l) {
         std::int64_t sum = s(l.c32());
         for (unsigned i = 0; i < 4; ++i) sum += field(l.a, 8 * i, 8, true) * field(l.b, 8 * i, 8, true);
         return u(sum);
       }},
      {"v_dot2_u32_u16 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) {
         return (l.a32() & 0xffff) * (l.b32() & 0xffff) + (l.a32() >> 16) * (l.b32() >> 16) + l.c32();
       }},
      {"v_pk_add_u16 v10, v2, v4", Match::kBits32,
       [=](const Lane& l) { return half(l.a + l.b) | uint32_t{half((l.a32() >> 16) + (l.b32() >> 16))} << 16; }},
      {"v_pk_mul_lo_u16 v10, v2, v4 op_sel:[1,0] op_sel_hi:[0,1]", Match::kBits32,
       [=](const Lane& l) {
         const uint32_t low = (l.a32() >> 16) * (l.b32() & 0xffff), high = (l.a32() & 0xffff) * (l.b32() >> 16);
         return half(low) | uint32_t{half(high)} << 16;
       }},
      {"v_pk_max_i16 v10, v2, v4", Match::kBits32,
       [=](const Lane& l) {
         const auto greater = [](uint32_t x, uint32_t y) {
           return std::max(static_cast<int16_t>(x), static_cast<int16_t>(y));
         };
         return half(u(greater(l.a32(), l.b32()))) | uint32_t{half(u(greater(l.a32() >> 16, l.b32() >> 16)))} << 16;
       }},
      {"v_pk_lshlrev_b16 v10, v2, v4", Match::kBits32,
       [=](const Lane& l) {
         return half(l.b32() << (l.a32() & 15)) | uint32_t{half((l.b32() >> 16) << (l.a32() >> 16 & 15))} << 16;
       }},
      {"v_dot4_i32_i8 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) {
         int64_t sum = s(l.c32());
         for (int i = 0; i < 4; ++i)
           sum += static_cast<int8_t>(l.a32() >> 8 * i) * static_cast<int8_t>(l.b32() >> 8 * i);
         return u(sum);
       }},
  };
  check_lane_cases(cases, Values::kIntegers);
}

}  // namespace
}  // namespace monojit::emulator::test
