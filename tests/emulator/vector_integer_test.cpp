// Integer vector instructions against definitions written for clarity, not speed.
#include <algorithm>
#include <bit>

#include <catch2/catch_test_macros.hpp>

#include "tests/emulator/lane_cases.h"

namespace monojit::emulator::test {
namespace {

using std::int16_t;
using std::int32_t;
using std::int64_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;

uint32_t u(int64_t value) { return static_cast<uint32_t>(value); }
int32_t s(uint32_t value) { return static_cast<int32_t>(value); }
int64_t sext24(uint32_t value) {
  return (value & 0x800000) != 0 ? int64_t{value & 0xffffff} - 0x1000000 : int64_t{value & 0xffffff};
}

uint64_t perm_byte(uint32_t high, uint32_t low, uint32_t selector) {
  const uint64_t both = uint64_t{high} << 32 | low;
  if (selector >= 13) return 0xff;
  if (selector == 12) return 0;
  if (selector >= 8) return (both >> (16 * (selector - 8) + 15) & 1) != 0 ? 0xff : 0;
  return both >> (8 * selector) & 0xff;
}

uint64_t with_carry(uint64_t sum) { return (sum & 0xffffffff) | (sum >> 32 != 0 ? uint64_t{1} << 32 : 0); }

TEST_CASE("32-bit moves and bit operations") {
  const LaneCase cases[] = {
      {"v_mov_b32 v10, v2", Match::kBits32, [](const Lane& l) { return l.a32(); }},
      {"v_mov_b32 v10, s24", Match::kBits32, [](const Lane& l) { return l.d32(); }},
      {"v_mov_b32 v10, 0x12345678", Match::kBits32, [](const Lane&) { return 0x12345678; }},
      {"v_mov_b32 v10, -7", Match::kBits32, [](const Lane&) { return u(-7); }},
      {"v_mov_b32 v10, 0.15915494", Match::kBits32, [](const Lane&) { return 0x3e22f983; }},
      {"v_mov_b64 v[10:11], v[4:5]", Match::kBits64, [](const Lane& l) { return l.b; }},
      {"v_not_b32 v10, v2", Match::kBits32, [](const Lane& l) { return ~l.a32(); }},
      {"v_and_b32 v10, v2, v4", Match::kBits32, [](const Lane& l) { return l.a32() & l.b32(); }},
      {"v_or_b32 v10, s24, v4", Match::kBits32, [](const Lane& l) { return l.d32() | l.b32(); }},
      {"v_xor_b32_e64 v10, v2, s24", Match::kBits32, [](const Lane& l) { return l.a32() ^ l.d32(); }},
      {"v_xnor_b32 v10, v2, v4", Match::kBits32, [](const Lane& l) { return ~(l.a32() ^ l.b32()); }},
      {"v_and_or_b32 v10, v2, v4, v6", Match::kBits32, [](const Lane& l) { return (l.a32() & l.b32()) | l.c32(); }},
      {"v_or3_b32 v10, v2, 15, v6", Match::kBits32, [](const Lane& l) { return l.a32() | 15 | l.c32(); }},
      {"v_bfi_b32 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) { return (l.a32() & l.b32()) | (~l.a32() & l.c32()); }},
      {"v_bfi_b32 v10, s24, v4, v6", Match::kBits32,
       [](const Lane& l) { return (l.d32() & l.b32()) | (~l.d32() & l.c32()); }},
      {"v_bfrev_b32 v10, v2", Match::kBits32,
       [](const Lane& l) {
         uint32_t r = 0;
         for (int i = 0; i < 32; ++i) r |= (l.a32() >> i & 1) << (31 - i);
         return r;
       }},
      {"v_ffbh_u32 v10, v2", Match::kBits32,
       [](const Lane& l) { return l.a32() == 0 ? u(-1) : u(std::countl_zero(l.a32())); }},
      {"v_ffbl_b32 v10, v2", Match::kBits32,
       [](const Lane& l) { return l.a32() == 0 ? u(-1) : u(std::countr_zero(l.a32())); }},
      {"v_ffbh_i32 v10, v2", Match::kBits32,
       [](const Lane& l) {
         const uint32_t x = s(l.a32()) < 0 ? ~l.a32() : l.a32();
         return x == 0 ? u(-1) : u(std::countl_zero(x));
       }},
      {"v_bcnt_u32_b32 v10, v2, v4", Match::kBits32, [](const Lane& l) { return u(std::popcount(l.a32())) + l.b32(); }},
      {"v_lshlrev_b32 v10, v2, v4", Match::kBits32, [](const Lane& l) { return l.b32() << (l.a32() & 31); }},
      {"v_lshrrev_b32 v10, 5, v4", Match::kBits32, [](const Lane& l) { return l.b32() >> 5; }},
      {"v_ashrrev_i32 v10, v2, v4", Match::kBits32, [](const Lane& l) { return u(s(l.b32()) >> (l.a32() & 31)); }},
      {"v_lshl_add_u32 v10, v2, 3, v6", Match::kBits32, [](const Lane& l) { return (l.a32() << 3) + l.c32(); }},
      {"v_lshl_or_b32 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) { return (l.a32() << (l.b32() & 31)) | l.c32(); }},
      {"v_add_lshl_u32 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) { return (l.a32() + l.b32()) << (l.c32() & 31); }},
      {"v_xad_u32 v10, v2, v4, v6", Match::kBits32, [](const Lane& l) { return (l.a32() ^ l.b32()) + l.c32(); }},
      {"v_bfe_u32 v10, v2, 8, 8", Match::kBits32, [](const Lane& l) { return l.a32() >> 8 & 0xff; }},
      {"v_bfe_u32 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) { return u(int64_t{l.a32()} >> (l.b32() & 31) & ((int64_t{1} << (l.c32() & 31)) - 1)); }},
      {"v_bfe_i32 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) {
         const uint32_t width = l.c32() & 31;
         if (width == 0) return uint32_t{0};
         const uint32_t raw = u(int64_t{s(l.a32())} >> (l.b32() & 31) & ((int64_t{1} << width) - 1));
         return (raw >> (width - 1) & 1) != 0 ? u(int64_t{raw} - (int64_t{1} << width)) : raw;
       }},
      {"v_bfm_b32 v10, v2, v4", Match::kBits32,
       [](const Lane& l) { return ((1u << (l.a32() & 31)) - 1) << (l.b32() & 31); }},
      {"v_alignbit_b32 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) { return u(static_cast<int64_t>((uint64_t{l.a32()} << 32 | l.b32()) >> (l.c32() & 31))); }},
      {"v_alignbyte_b32 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) {
         return u(static_cast<int64_t>((uint64_t{l.a32()} << 32 | l.b32()) >> (8 * (l.c32() & 3))));
       }},
      {"v_perm_b32 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) {
         uint64_t r = 0;
         for (uint32_t i = 0; i < 4; ++i) r |= perm_byte(l.a32(), l.b32(), l.c32() >> (8 * i) & 0xff) << (8 * i);
         return r;
       }},
      {"v_cndmask_b32 v10, v2, v4, vcc", Match::kBits32, [](const Lane& l) { return l.mask ? l.b32() : l.a32(); }},
      {"v_cndmask_b32_e64 v10, 0, 1, s[20:21]", Match::kBits32, [](const Lane& l) { return l.mask ? 1 : 0; }},
      {"v_cndmask_b32_e64 v10, -v2, |v4|, s[20:21]", Match::kBits32,
       [](const Lane& l) { return l.mask ? l.b32() & 0x7fffffff : l.a32() ^ 0x80000000; }},
      {"v_bitop3_b32 v10, v2, v4, v6 bitop3:0x6c", Match::kBits32,
       [](const Lane& l) {
         uint32_t r = 0;
         for (int i = 0; i < 32; ++i) {
           const uint32_t index = (l.a32() >> i & 1) << 2 | (l.b32() >> i & 1) << 1 | (l.c32() >> i & 1);
           r |= (0x6cu >> index & 1) << i;
         }
         return r;
       }},
      {"v_accvgpr_write_b32 a3, v2\n v_accvgpr_read_b32 v10, a3", Match::kBits32,
       [](const Lane& l) { return l.a32(); }},
      {"v_mbcnt_lo_u32_b32 v10, -1, 0\n v_mbcnt_hi_u32_b32 v10, -1, v10", Match::kBits32,
       [](const Lane& l) { return l.index; }},
      {"v_mbcnt_lo_u32_b32 v10, 1, v2", Match::kBits32, [](const Lane& l) { return l.a32() + (l.index > 0 ? 1 : 0); }},
  };
  check_lane_cases(cases, Values::kIntegers);
}

TEST_CASE("32-bit integer arithmetic") {
  const LaneCase cases[] = {
      {"v_add_u32 v10, v2, v4", Match::kBits32, [](const Lane& l) { return l.a32() + l.b32(); }},
      {"v_sub_u32 v10, v2, v4", Match::kBits32, [](const Lane& l) { return l.a32() - l.b32(); }},
      {"v_subrev_u32 v10, s24, v4", Match::kBits32, [](const Lane& l) { return l.b32() - l.d32(); }},
      {"v_add_u32_e64 v10, v2, v4 clamp", Match::kBits32,
       [](const Lane& l) { return std::min<uint64_t>(uint64_t{l.a32()} + l.b32(), 0xffffffff); }},
      {"v_sub_u32_e64 v10, v2, v4 clamp", Match::kBits32,
       [](const Lane& l) { return l.a32() < l.b32() ? 0 : l.a32() - l.b32(); }},
      {"v_add_i32 v10, v2, v4 clamp", Match::kBits32,
       [](const Lane& l) { return u(std::clamp<int64_t>(int64_t{s(l.a32())} + s(l.b32()), INT32_MIN, INT32_MAX)); }},
      {"v_sub_i32 v10, v2, v4 clamp", Match::kBits32,
       [](const Lane& l) { return u(std::clamp<int64_t>(int64_t{s(l.a32())} - s(l.b32()), INT32_MIN, INT32_MAX)); }},
      {"v_add3_u32 v10, v2, v4, v6", Match::kBits32, [](const Lane& l) { return l.a32() + l.b32() + l.c32(); }},
      {"v_add_co_u32_e64 v10, s[22:23], v2, v4", Match::kBits32Mask,
       [](const Lane& l) { return with_carry(uint64_t{l.a32()} + l.b32()); }},
      {"v_sub_co_u32_e64 v10, s[22:23], v2, v4", Match::kBits32Mask,
       [](const Lane& l) { return uint64_t{l.a32() - l.b32()} | uint64_t{l.a32() < l.b32()} << 32; }},
      {"v_subrev_co_u32_e64 v10, s[22:23], v2, v4", Match::kBits32Mask,
       [](const Lane& l) { return uint64_t{l.b32() - l.a32()} | uint64_t{l.b32() < l.a32()} << 32; }},
      {"v_addc_co_u32_e64 v10, s[22:23], v2, v4, s[20:21]", Match::kBits32Mask,
       [](const Lane& l) { return with_carry(uint64_t{l.a32()} + l.b32() + (l.mask ? 1 : 0)); }},
      {"v_subb_co_u32_e64 v10, s[22:23], v2, v4, s[20:21]", Match::kBits32Mask,
       [](const Lane& l) {
         const uint64_t taken = uint64_t{l.b32()} + (l.mask ? 1 : 0);
         return ((l.a32() - taken) & 0xffffffff) | uint64_t{taken > l.a32()} << 32;
       }},
      {"v_subbrev_co_u32_e64 v10, s[22:23], v2, v4, s[20:21]", Match::kBits32Mask,
       [](const Lane& l) {
         const uint64_t taken = uint64_t{l.a32()} + (l.mask ? 1 : 0);
         return ((l.b32() - taken) & 0xffffffff) | uint64_t{taken > l.b32()} << 32;
       }},
      {"v_addc_co_u32_e32 v10, vcc, v2, v4, vcc\n s_mov_b64 s[22:23], vcc", Match::kBits32Mask,
       [](const Lane& l) { return with_carry(uint64_t{l.a32()} + l.b32() + (l.mask ? 1 : 0)); }},
      {"v_mul_lo_u32 v10, v2, v4", Match::kBits32, [](const Lane& l) { return l.a32() * l.b32(); }},
      {"v_mul_hi_u32 v10, v2, v4", Match::kBits32, [](const Lane& l) { return uint64_t{l.a32()} * l.b32() >> 32; }},
      {"v_mul_hi_i32 v10, v2, v4", Match::kBits32,
       [](const Lane& l) { return u(int64_t{s(l.a32())} * s(l.b32()) >> 32); }},
      {"v_mul_u32_u24 v10, v2, v4", Match::kBits32,
       [](const Lane& l) { return u(int64_t{l.a32() & 0xffffff} * (l.b32() & 0xffffff)); }},
      {"v_mul_i32_i24 v10, v2, v4", Match::kBits32, [](const Lane& l) { return u(sext24(l.a32()) * sext24(l.b32())); }},
      {"v_mul_hi_u32_u24 v10, v2, v4", Match::kBits32,
       [](const Lane& l) { return u(int64_t{l.a32() & 0xffffff} * (l.b32() & 0xffffff) >> 32); }},
      {"v_mul_hi_i32_i24 v10, v2, v4", Match::kBits32,
       [](const Lane& l) { return u(sext24(l.a32()) * sext24(l.b32()) >> 32); }},
      {"v_mad_u32_u24 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) { return u(int64_t{l.a32() & 0xffffff} * (l.b32() & 0xffffff)) + l.c32(); }},
      {"v_mad_i32_i24 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) { return u(sext24(l.a32()) * sext24(l.b32())) + l.c32(); }},
      {"v_mad_u64_u32 v[10:11], s[22:23], v2, v4, v[6:7]", Match::kBits64,
       [](const Lane& l) { return uint64_t{l.a32()} * l.b32() + l.c; }},
      {"v_mad_i64_i32 v[10:11], s[22:23], v2, v4, v[6:7]", Match::kBits64,
       [](const Lane& l) { return static_cast<uint64_t>(int64_t{s(l.a32())} * s(l.b32())) + l.c; }},
      {"v_min_u32 v10, v2, v4", Match::kBits32, [](const Lane& l) { return std::min(l.a32(), l.b32()); }},
      {"v_max_u32 v10, v2, v4", Match::kBits32, [](const Lane& l) { return std::max(l.a32(), l.b32()); }},
      {"v_min_i32 v10, v2, v4", Match::kBits32, [](const Lane& l) { return u(std::min(s(l.a32()), s(l.b32()))); }},
      {"v_max_i32 v10, v2, v4", Match::kBits32, [](const Lane& l) { return u(std::max(s(l.a32()), s(l.b32()))); }},
      {"v_min3_u32 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) { return std::min({l.a32(), l.b32(), l.c32()}); }},
      {"v_max3_i32 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) { return u(std::max({s(l.a32()), s(l.b32()), s(l.c32())})); }},
      {"v_med3_i32 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) {
         int32_t x[] = {s(l.a32()), s(l.b32()), s(l.c32())};
         std::ranges::sort(x);
         return u(x[1]);
       }},
      {"v_med3_u32 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) {
         uint32_t x[] = {l.a32(), l.b32(), l.c32()};
         std::ranges::sort(x);
         return x[1];
       }},
      {"v_sad_u32 v10, v2, v4, v6", Match::kBits32,
       [](const Lane& l) { return std::max(l.a32(), l.b32()) - std::min(l.a32(), l.b32()) + l.c32(); }},
      {"v_lshlrev_b64 v[10:11], v2, v[4:5]", Match::kBits64, [](const Lane& l) { return l.b << (l.a & 63); }},
      {"v_lshrrev_b64 v[10:11], v2, v[4:5]", Match::kBits64, [](const Lane& l) { return l.b >> (l.a & 63); }},
      {"v_ashrrev_i64 v[10:11], v2, v[4:5]", Match::kBits64,
       [](const Lane& l) { return static_cast<uint64_t>(static_cast<int64_t>(l.b) >> (l.a & 63)); }},
      {"v_lshl_add_u64 v[10:11], v[2:3], 3, v[4:5]", Match::kBits64, [](const Lane& l) { return (l.a << 3) + l.b; }},
  };
  check_lane_cases(cases, Values::kIntegers);
}

TEST_CASE("comparisons of integers") {
  const LaneCase cases[] = {
      {"v_cmp_eq_u32_e64 s[22:23], v2, v4", Match::kMask, [](const Lane& l) { return l.a32() == l.b32(); }},
      {"v_cmp_lt_u32_e64 s[22:23], v2, v4", Match::kMask, [](const Lane& l) { return l.a32() < l.b32(); }},
      {"v_cmp_le_i32_e64 s[22:23], v2, v4", Match::kMask, [](const Lane& l) { return s(l.a32()) <= s(l.b32()); }},
      {"v_cmp_gt_i32_e64 s[22:23], s24, v4", Match::kMask, [](const Lane& l) { return s(l.d32()) > s(l.b32()); }},
      {"v_cmp_ge_u32_e64 s[22:23], v2, 7", Match::kMask, [](const Lane& l) { return l.a32() >= 7; }},
      {"v_cmp_ne_u32_e64 s[22:23], v2, v4", Match::kMask, [](const Lane& l) { return l.a32() != l.b32(); }},
      {"v_cmp_eq_u64_e64 s[22:23], v[2:3], v[4:5]", Match::kMask, [](const Lane& l) { return l.a == l.b; }},
      {"v_cmp_lt_u64_e64 s[22:23], v[2:3], v[4:5]", Match::kMask, [](const Lane& l) { return l.a < l.b; }},
      {"v_cmp_gt_i64_e64 s[22:23], v[2:3], v[4:5]", Match::kMask,
       [](const Lane& l) { return static_cast<int64_t>(l.a) > static_cast<int64_t>(l.b); }},
      {"v_cmp_le_u64_e64 s[22:23], s[24:25], v[4:5]", Match::kMask, [](const Lane& l) { return l.d <= l.b; }},
      {"v_cmp_lt_i16_e64 s[22:23], v2, v4", Match::kMask,
       [](const Lane& l) { return static_cast<int16_t>(l.a) < static_cast<int16_t>(l.b); }},
      {"v_cmp_ge_u16_e64 s[22:23], v2, v4", Match::kMask,
       [](const Lane& l) { return static_cast<uint16_t>(l.a) >= static_cast<uint16_t>(l.b); }},
      {"v_cmp_lt_u32 vcc, v2, v4\n s_mov_b64 s[22:23], vcc", Match::kMask,
       [](const Lane& l) { return l.a32() < l.b32(); }},
      {"v_cmpx_lt_u32 vcc, v2, v4\n s_mov_b64 s[22:23], exec", Match::kMask,
       [](const Lane& l) { return l.a32() < l.b32(); }},
      {"v_cmpx_lt_u32 vcc, v2, v4\n s_mov_b64 s[22:23], vcc", Match::kMask,
       [](const Lane& l) { return l.a32() < l.b32(); }},
  };
  check_lane_cases(cases, Values::kIntegers);
}

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
       [=](const Lane& l) { return half((l.a32() >> 16) * half(l.b) + l.c); }},
      {"v_mad_u16 v10, v2, v4, v6 op_sel:[0,0,0,1]", Match::kBits32,
       [=](const Lane& l) { return 0x5a5a | uint32_t{half(uint32_t{half(l.a)} * half(l.b) + l.c)} << 16; }},
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
