// 32- and 64-bit integer arithmetic of vectors against definitions written for clarity, not speed.
#include <algorithm>

#include <catch2/catch_test_macros.hpp>

#include "tests/emulator/lane_cases.h"
#include "tests/emulator/lane_values.h"

namespace monojit::emulator::test {
namespace {

using std::int32_t;
using std::int64_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;

uint64_t with_carry(uint64_t sum) { return (sum & 0xffffffff) | (sum >> 32 != 0 ? uint64_t{1} << 32 : 0); }

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

}  // namespace
}  // namespace monojit::emulator::test
