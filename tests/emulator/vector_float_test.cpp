// Floating-point vector instructions. Arithmetic is compared with the host's, one operation at a time; what rounds in
// another way on AMD than in IEEE 754 is tested with the numerics.
#include <bit>
#include <cmath>

#include <catch2/catch_test_macros.hpp>

#include "tests/emulator/lane_cases.h"
#include "tests/emulator/lane_values.h"

namespace monojit::emulator::test {
namespace {

using std::uint32_t;
using std::uint64_t;

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

float quiet(uint32_t x) { return f(x | 0x00400000); }
bool signalling(uint32_t x) { return std::isnan(f(x)) && (x & 0x00400000) == 0; }

/// v_min_f32 / v_max_f32 with MODE.IEEE set.
uint64_t extreme(uint32_t x, uint32_t y, bool larger) {
  if (signalling(x)) return bits(quiet(x));
  if (signalling(y)) return bits(quiet(y));
  if (std::isnan(f(x))) return y;
  if (std::isnan(f(y))) return x;
  if (f(x) == 0 && f(y) == 0) return larger ? x & y : x | y;
  return (f(x) < f(y)) == larger ? y : x;
}

TEST_CASE("f32 arithmetic") {
  const LaneCase cases[] = {
      {"v_add_f32 v10, v2, v4", Match::kFloat32, [](const Lane& l) { return bits(f(l.a) + f(l.b)); }},
      {"v_sub_f32 v10, s24, v4", Match::kFloat32, [](const Lane& l) { return bits(f(l.d) - f(l.b)); }},
      {"v_subrev_f32 v10, v2, v4", Match::kFloat32, [](const Lane& l) { return bits(f(l.b) - f(l.a)); }},
      {"v_mul_f32 v10, v2, v4", Match::kFloat32, [](const Lane& l) { return bits(f(l.a) * f(l.b)); }},
      {"v_mul_f32 v10, 0.5, v4", Match::kFloat32, [](const Lane& l) { return bits(0.5f * f(l.b)); }},
      {"v_fma_f32 v10, v2, v4, v6", Match::kFloat32,
       [](const Lane& l) { return bits(std::fma(f(l.a), f(l.b), f(l.c))); }},
      {"v_fma_f32 v10, -v2, |v4|, -|v6|", Match::kFloat32,
       [](const Lane& l) { return bits(std::fma(-f(l.a), std::fabs(f(l.b)), -std::fabs(f(l.c)))); }},
      {"v_fma_f32 v10, s24, v4, 1.0", Match::kFloat32,
       [](const Lane& l) { return bits(std::fma(f(l.d), f(l.b), 1.0f)); }},
      {"v_fma_f32 v10, -s24, v4, v6", Match::kFloat32,
       [](const Lane& l) { return bits(std::fma(-f(l.d), f(l.b), f(l.c))); }},
      {"v_mov_b32 v10, v6\n v_fmac_f32 v10, v2, v4", Match::kFloat32,
       [](const Lane& l) { return bits(std::fma(f(l.a), f(l.b), f(l.c))); }},
      {"v_fmaak_f32 v10, v2, v4, 0x40490fdb", Match::kFloat32,
       [](const Lane& l) { return bits(std::fma(f(l.a), f(l.b), f(0x40490fdb))); }},
      {"v_fmamk_f32 v10, v2, 0x40490fdb, v4", Match::kFloat32,
       [](const Lane& l) { return bits(std::fma(f(l.a), f(0x40490fdb), f(l.b))); }},
      {"v_add_f32_e64 v10, v2, v4 clamp", Match::kFloat32,
       [](const Lane& l) {
         const float sum = f(l.a) + f(l.b);
         return bits(std::isnan(sum) ? 0.0f : sum < 0 ? 0.0f : sum > 1 ? 1.0f : sum == 0 ? 0.0f : sum);
       }},
      {"v_min_f32 v10, v2, v4", Match::kFloat32, [](const Lane& l) { return extreme(l.a32(), l.b32(), false); }},
      {"v_max_f32 v10, v2, v4", Match::kFloat32, [](const Lane& l) { return extreme(l.a32(), l.b32(), true); }},
      {"v_max_f32_e64 v10, |v2|, v4", Match::kFloat32,
       [](const Lane& l) { return extreme(l.a32() & 0x7fffffff, l.b32(), true); }},
      {"v_max3_f32 v10, v2, v4, v6", Match::kFloat32,
       [](const Lane& l) { return extreme(static_cast<uint32_t>(extreme(l.a32(), l.b32(), true)), l.c32(), true); }},
      {"v_maximum3_f32 v10, v2, v4, v6", Match::kFloat32,
       [](const Lane& l) {
         if (std::isnan(f(l.a)) || std::isnan(f(l.b)) || std::isnan(f(l.c))) return uint64_t{0x7fc00000};
         return extreme(static_cast<uint32_t>(extreme(l.a32(), l.b32(), true)), l.c32(), true);
       }},
      {"v_floor_f32 v10, v2", Match::kFloat32, [](const Lane& l) { return bits(std::floor(f(l.a))); }},
      {"v_ceil_f32 v10, v2", Match::kFloat32, [](const Lane& l) { return bits(std::ceil(f(l.a))); }},
      {"v_trunc_f32 v10, v2", Match::kFloat32, [](const Lane& l) { return bits(std::trunc(f(l.a))); }},
      {"v_rndne_f32 v10, v2", Match::kFloat32, [](const Lane& l) { return bits(std::nearbyint(f(l.a))); }},
      {"v_pk_fma_f32 v[10:11], v[2:3], v[4:5], v[6:7]", Match::kFloatPair,
       [](const Lane& l) {
         const float low = std::fma(f(l.a), f(l.b), f(l.c)), high = std::fma(f(l.a >> 32), f(l.b >> 32), f(l.c >> 32));
         return bits(low) | bits(high) << 32;
       }},
      {"v_pk_mul_f32 v[10:11], v[2:3], v[4:5] op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[0,1] neg_hi:[1,0]",
       Match::kFloatPair,
       [](const Lane& l) { return bits(f(l.a >> 32) * -f(l.b)) | bits(-f(l.a) * f(l.b >> 32)) << 32; }},
      {"v_mov_b64 v[10:11], v[2:3]\n v_pk_add_f32 v[10:11], v[10:11], v[4:5] op_sel:[1,0] op_sel_hi:[0,1]",
       Match::kFloatPair,
       [](const Lane& l) { return bits(f(l.a >> 32) + f(l.b)) | bits(f(l.a) + f(l.b >> 32)) << 32; }},
      {"v_pk_mul_f32 v[10:11], v[2:3], s[24:25]", Match::kFloatPair,
       [](const Lane& l) { return bits(f(l.a) * f(l.d)) | bits(f(l.a >> 32) * f(l.d >> 32)) << 32; }},
      {"v_pk_mov_b32 v[10:11], v[2:3], v[4:5] op_sel:[1,0]", Match::kBits64,
       [](const Lane& l) { return l.a >> 32 | l.b << 32; }},
  };
  check_lane_cases(cases, Values::kFloats);
}

TEST_CASE("f32 comparisons and classes") {
  const LaneCase cases[] = {
      {"v_cmp_lt_f32_e64 s[22:23], v2, v4", Match::kMask, [](const Lane& l) { return f(l.a) < f(l.b); }},
      {"v_cmp_eq_f32_e64 s[22:23], v2, v4", Match::kMask, [](const Lane& l) { return f(l.a) == f(l.b); }},
      {"v_cmp_le_f32_e64 s[22:23], v2, -v4", Match::kMask, [](const Lane& l) { return f(l.a) <= -f(l.b); }},
      {"v_cmp_lg_f32_e64 s[22:23], v2, v4", Match::kMask,
       [](const Lane& l) { return f(l.a) < f(l.b) || f(l.a) > f(l.b); }},
      {"v_cmp_o_f32_e64 s[22:23], v2, v4", Match::kMask,
       [](const Lane& l) { return !std::isnan(f(l.a)) && !std::isnan(f(l.b)); }},
      {"v_cmp_u_f32_e64 s[22:23], v2, v4", Match::kMask,
       [](const Lane& l) { return std::isnan(f(l.a)) || std::isnan(f(l.b)); }},
      {"v_cmp_nge_f32_e64 s[22:23], v2, v4", Match::kMask, [](const Lane& l) { return !(f(l.a) >= f(l.b)); }},
      {"v_cmp_neq_f32_e64 s[22:23], v2, v4", Match::kMask, [](const Lane& l) { return f(l.a) != f(l.b); }},
      {"v_cmp_nlt_f32_e64 s[22:23], v2, 1.0", Match::kMask, [](const Lane& l) { return !(f(l.a) < 1.0f); }},
      {"v_cmp_class_f32_e64 s[22:23], v2, 3", Match::kMask, [](const Lane& l) { return std::isnan(f(l.a)); }},
      {"v_cmp_class_f32_e64 s[22:23], v2, v4", Match::kMask,
       [](const Lane& l) {
         const bool negative = std::signbit(f(l.a));
         uint32_t index = 0;
         switch (std::fpclassify(f(l.a))) {
           case FP_NAN:
             index = signalling(l.a32()) ? 0 : 1;
             break;
           case FP_INFINITE:
             index = negative ? 2 : 9;
             break;
           case FP_NORMAL:
             index = negative ? 3 : 8;
             break;
           case FP_SUBNORMAL:
             index = negative ? 4 : 7;
             break;
           default:
             index = negative ? 5 : 6;
         }
         return l.b32() >> index & 1;
       }},
  };
  check_lane_cases(cases, Values::kFloats);
}

TEST_CASE("f32 functions and conversions") {
  const auto saturate = [](double x, double low, double high) {
    return std::isnan(x) ? 0.0 : x < low ? low : x > high ? high : x;
  };
  const LaneCase cases[] = {
      {"v_rcp_f32 v10, v2", Match::kNear32, [](const Lane& l) { return bits(flushed(1 / flushed(f(l.a)))); }},
      {"v_rsq_f32 v10, v2", Match::kNear32,
       [](const Lane& l) { return bits(static_cast<float>(1 / std::sqrt(static_cast<double>(flushed(f(l.a)))))); }},
      {"v_sqrt_f32 v10, v2", Match::kNear32, [](const Lane& l) { return bits(std::sqrt(flushed(f(l.a)))); }},
      {"v_exp_f32 v10, v2", Match::kNear32,
       [](const Lane& l) { return bits(flushed(static_cast<float>(std::exp2(double{flushed(f(l.a))})))); }},
      {"v_log_f32 v10, v2", Match::kNear32,
       [](const Lane& l) { return bits(static_cast<float>(std::log2(double{flushed(f(l.a))}))); }},
      {"v_ldexp_f32 v10, v2, 5", Match::kFloat32, [](const Lane& l) { return bits(std::ldexp(f(l.a), 5)); }},
      {"v_frexp_mant_f32 v10, v2", Match::kFloat32,
       [](const Lane& l) {
         int exponent = 0;
         return bits(std::frexp(f(l.a), &exponent));
       }},
      {"v_cvt_i32_f32 v10, v2", Match::kBits32,
       [=](const Lane& l) {
         return static_cast<uint32_t>(static_cast<int32_t>(saturate(f(l.a), -2147483648.0, 2147483647.0)));
       }},
      {"v_cvt_u32_f32 v10, v2", Match::kBits32,
       [=](const Lane& l) { return static_cast<uint32_t>(saturate(f(l.a), 0.0, 4294967295.0)); }},
      {"v_cvt_f32_i32 v10, v2", Match::kFloat32,
       [](const Lane& l) { return bits(static_cast<float>(static_cast<int32_t>(l.a32()))); }},
      {"v_cvt_f32_u32 v10, v2", Match::kFloat32, [](const Lane& l) { return bits(static_cast<float>(l.a32())); }},
      {"v_cvt_f32_ubyte2 v10, v2", Match::kFloat32,
       [](const Lane& l) { return bits(static_cast<float>(l.a32() >> 16 & 0xff)); }},
      {"v_cvt_f64_f32 v[10:11], v2", Match::kFloat64, [](const Lane& l) { return bits(static_cast<double>(f(l.a))); }},
      {"v_div_scale_f32 v12, vcc, v4, v4, v2\n v_rcp_f32 v13, v12\n v_div_scale_f32 v14, vcc, v2, v4, v2\n"
       " v_fma_f32 v15, -v12, v13, 1.0\n v_fma_f32 v13, v15, v13, v13\n v_mul_f32 v15, v14, v13\n v_fma_f32 v16, -v12, "
       "v15, v14\n"
       " v_fma_f32 v15, v16, v13, v15\n v_fma_f32 v12, -v12, v15, v14\n v_div_fmas_f32 v12, v12, v13, v15\n "
       "v_div_fixup_f32 v10, v12, v4, v2",
       Match::kFloat32, [](const Lane& l) { return bits(f(l.a) / f(l.b)); }},
      {"v_cvt_pk_bf16_f32 v10, v2, v4", Match::kBits32,
       [](const Lane& l) {
         const auto round = [](uint32_t x) {
           if (std::isnan(f(x))) return (x >> 16 | 0x40) & 0xffff;
           const uint32_t remainder = x & 0xffff, upper = x >> 16;
           return remainder > 0x8000 || (remainder == 0x8000 && (upper & 1) != 0) ? upper + 1 : upper;
         };
         return round(l.a32()) | round(l.b32()) << 16;
       }},
  };
  check_lane_cases(cases, Values::kFloats);
}

TEST_CASE("f64 arithmetic") {
  const LaneCase cases[] = {
      {"v_add_f64 v[10:11], v[2:3], v[4:5]", Match::kFloat64, [](const Lane& l) { return bits(d(l.a) + d(l.b)); }},
      {"v_add_f64 v[10:11], -v[2:3], |v[4:5]|", Match::kFloat64,
       [](const Lane& l) { return bits(-d(l.a) + std::fabs(d(l.b))); }},
      {"v_mul_f64 v[10:11], v[2:3], s[24:25]", Match::kFloat64, [](const Lane& l) { return bits(d(l.a) * d(l.d)); }},
      {"v_mul_f64 v[10:11], v[2:3], 0.5", Match::kFloat64, [](const Lane& l) { return bits(d(l.a) * 0.5); }},
      {"v_fma_f64 v[10:11], v[2:3], v[4:5], v[6:7]", Match::kFloat64,
       [](const Lane& l) { return bits(std::fma(d(l.a), d(l.b), d(l.c))); }},
      {"v_cvt_f32_f64 v10, v[2:3]", Match::kFloat32, [](const Lane& l) { return bits(static_cast<float>(d(l.a))); }},
      {"v_cvt_f64_u32 v[10:11], v2", Match::kFloat64, [](const Lane& l) { return bits(static_cast<double>(l.a32())); }},
      {"v_cmp_lt_f64_e64 s[22:23], v[2:3], v[4:5]", Match::kMask, [](const Lane& l) { return d(l.a) < d(l.b); }},
      {"v_floor_f64 v[10:11], v[2:3]", Match::kFloat64, [](const Lane& l) { return bits(std::floor(d(l.a))); }},
      {"v_ldexp_f64 v[10:11], v[2:3], 9", Match::kFloat64, [](const Lane& l) { return bits(std::ldexp(d(l.a), 9)); }},
  };
  check_lane_cases(cases, Values::kDoubles);
}

TEST_CASE("f16 arithmetic") {
  const auto h = [](uint64_t x) { return static_cast<float>(std::bit_cast<f16>(static_cast<std::uint16_t>(x))); };
  const auto pack = [](double x) { return uint64_t{std::bit_cast<std::uint16_t>(static_cast<f16>(x))}; };
  const LaneCase cases[] = {
      {"v_add_f16 v10, v2, v4", Match::kHalf, [=](const Lane& l) { return pack(h(l.a) + h(l.b)); }},
      {"v_mul_f16 v10, v2, v4", Match::kHalf, [=](const Lane& l) { return pack(double{h(l.a)} * h(l.b)); }},
      {"v_fma_f16 v10, v2, v4, v6\n v_xor_b32 v10, 0x5a5a0000, v10", Match::kHalf,
       [=](const Lane& l) { return pack(double{h(l.a)} * h(l.b) + h(l.c)); }},
      {"v_fma_f16 v10, -v2, v4, |v6| op_sel:[1,0,0,0]\n v_xor_b32 v10, 0x5a5a0000, v10", Match::kHalf,
       [=](const Lane& l) { return pack(-double{h(l.a >> 16)} * h(l.b) + std::fabs(h(l.c))); }},
      {"v_add_f16 v10, 1.0, v4", Match::kHalf, [=](const Lane& l) { return pack(1.0f + h(l.b)); }},
      {"v_cvt_f32_f16 v10, v2", Match::kFloat32, [=](const Lane& l) { return bits(h(l.a)); }},
      {"v_cmp_lt_f16_e64 s[22:23], v2, v4", Match::kMask, [=](const Lane& l) { return h(l.a) < h(l.b); }},
      {"v_pk_add_f16 v10, v2, v4\n v_and_b32 v10, 0xffff, v10", Match::kHalf,
       [=](const Lane& l) { return pack(h(l.a) + h(l.b)); }},
      {"v_pk_fma_f16 v10, v2, v4, v6 op_sel_hi:[0,1,1] neg_hi:[1,0,0]\n v_lshrrev_b32 v10, 16, v10", Match::kHalf,
       [=](const Lane& l) { return pack(-double{h(l.a)} * h(l.b >> 16) + h(l.c >> 16)); }},
      {"v_fma_mix_f32 v10, v2, v4, v6 op_sel:[0,1,0] op_sel_hi:[1,1,0]", Match::kFloat32,
       [=](const Lane& l) { return bits(std::fma(h(l.a), h(l.b >> 16), f(l.c))); }},
      {"v_fma_mixlo_f16 v10, v2, v4, v6 op_sel_hi:[1,1,1]\n v_and_b32 v10, 0xffff, v10", Match::kHalf,
       [=](const Lane& l) { return pack(std::fma(h(l.a), h(l.b), h(l.c))); }},
  };
  check_lane_cases(cases, Values::kHalves);
}

TEST_CASE("kernels that flush f32 denormals do so") {
  Device device;
  const auto out = device.allocate<uint32_t>(2);
  const char* const body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0x00400000
  v_mov_b32 v2, 0
  v_mul_f32 v3, 1.0, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v3, s[4:5]
)";
  device.run({.body = body, .denormals = 3}, {.block = {1, 1, 1}}, {out.address()});
  CHECK(out[0] == 0x00400000);
  device.run({.body = body, .denormals = 0}, {.block = {1, 1, 1}}, {out.address()});
  CHECK(out[0] == 0);
}

}  // namespace
}  // namespace monojit::emulator::test
