// Moves, selections and bit operations of vectors against definitions written for clarity, not speed.
#include <bit>

#include <catch2/catch_test_macros.hpp>

#include "tests/emulator/lane_cases.h"
#include "tests/emulator/lane_values.h"

namespace monojit::emulator::test {
namespace {

using std::int64_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;

uint64_t perm_byte(uint32_t high, uint32_t low, uint32_t selector) {
  const uint64_t both = uint64_t{high} << 32 | low;
  if (selector >= 13) return 0xff;
  if (selector == 12) return 0;
  if (selector >= 8) return (both >> (16 * (selector - 8) + 15) & 1) != 0 ? 0xff : 0;
  return both >> (8 * selector) & 0xff;
}

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

}  // namespace
}  // namespace monojit::emulator::test
