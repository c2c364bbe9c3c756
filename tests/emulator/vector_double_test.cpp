// f64: functions, extremes, whole divisions and argument reduction.
#include <algorithm>
#include <cmath>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/emulator/device.h"
#include "tests/emulator/lane_cases.h"
#include "tests/emulator/lane_values.h"

namespace monojit::emulator::test {
namespace {

using std::uint32_t;
using std::uint64_t;

bool signalling(uint64_t x) { return std::isnan(d(x)) && (x & 0x8000000000000) == 0; }

uint64_t extreme(uint64_t x, uint64_t y, bool larger) {
  if (signalling(x) || signalling(y)) return bits(std::nan(""));
  if (std::isnan(d(x))) return y;
  if (std::isnan(d(y))) return x;
  if (d(x) == 0 && d(y) == 0) return larger ? x & y : x | y;
  return (d(x) < d(y)) == larger ? y : x;
}

/// The compiler's f64 division of v[2:3] by v[4:5].
constexpr const char* kDivision = R"(v_div_scale_f64 v[12:13], vcc, v[4:5], v[4:5], v[2:3]
  v_rcp_f64 v[14:15], v[12:13]
  v_fma_f64 v[16:17], -v[12:13], v[14:15], 1.0
  v_fma_f64 v[14:15], v[14:15], v[16:17], v[14:15]
  v_fma_f64 v[16:17], -v[12:13], v[14:15], 1.0
  v_fma_f64 v[14:15], v[14:15], v[16:17], v[14:15]
  v_div_scale_f64 v[16:17], vcc, v[2:3], v[4:5], v[2:3]
  v_mul_f64 v[18:19], v[16:17], v[14:15]
  v_fma_f64 v[12:13], -v[12:13], v[18:19], v[16:17]
  v_div_fmas_f64 v[12:13], v[12:13], v[14:15], v[18:19]
  v_div_fixup_f64 v[10:11], v[12:13], v[4:5], v[2:3])";

TEST_CASE("f64 functions of one and two numbers") {
  const auto function = [](const char* name, double (*expected)(double)) {
    return LaneCase{fmt::format("v_{}_f64 v[10:11], v[2:3]", name), Match::kFloat64,
                    [=](const Lane& l) { return bits(expected(d(l.a))); }};
  };
  const LaneCase cases[] = {
      function("ceil", [](double x) { return std::ceil(x); }),
      function("trunc", [](double x) { return std::trunc(x); }),
      function("rndne", [](double x) { return std::nearbyint(x); }),
      function("sqrt", [](double x) { return std::sqrt(x); }),
      function("rcp", [](double x) { return 1 / x; }),
      function("fract",
               [](double x) { return std::isfinite(x) ? std::fmin(x - std::floor(x), 0x1.fffffffffffffp-1) : NAN; }),
      function("frexp_mant",
               [](double x) {
                 int exponent = 0;
                 return std::frexp(x, &exponent);
               }),
      {"v_frexp_exp_i32_f64 v10, v[2:3]", Match::kBits32,
       [](const Lane& l) {
         int exponent = 0;
         if (std::isfinite(d(l.a))) std::frexp(d(l.a), &exponent);
         return u(exponent);
       }},
      {"v_min_f64 v[10:11], v[2:3], v[4:5]", Match::kFloat64, [](const Lane& l) { return extreme(l.a, l.b, false); }},
      {"v_max_f64 v[10:11], v[2:3], v[4:5]", Match::kFloat64, [](const Lane& l) { return extreme(l.a, l.b, true); }},
      {"v_mov_b64 v[10:11], v[6:7]\n v_fmac_f64 v[10:11], v[2:3], v[4:5]", Match::kFloat64,
       [](const Lane& l) { return bits(std::fma(d(l.a), d(l.b), d(l.c))); }},
      {"v_cvt_i32_f64 v10, v[2:3]", Match::kBits32,
       [](const Lane& l) {
         const double x = std::isnan(d(l.a)) ? 0 : std::clamp(d(l.a), -2147483648.0, 2147483647.0);
         return u(static_cast<std::int64_t>(x));
       }},
      {"v_cvt_u32_f64 v10, v[2:3]", Match::kBits32,
       [](const Lane& l) {
         const double x = std::isnan(d(l.a)) ? 0 : std::clamp(d(l.a), 0.0, 4294967295.0);
         return u(static_cast<std::int64_t>(x));
       }},
      {kDivision, Match::kFloat64, [](const Lane& l) { return bits(d(l.a) / d(l.b)); }},
  };
  check_lane_cases(cases, Values::kDoubles);
}

TEST_CASE("f64 reciprocal square roots are near") {
  const LaneCase cases[] = {
      {"v_rsq_f64 v[12:13], v[2:3]\n v_cvt_f32_f64 v10, v[12:13]", Match::kNear32,
       [](const Lane& l) { return bits(static_cast<float>(1 / std::sqrt(d(l.a)))); }},
  };
  check_lane_cases(cases, Values::kDoubles);
}

TEST_CASE("the segments of 2/pi add up to it") {
  // Sums of the first segments, times pi/2: 1 up to the host's own precision.
  Device device;
  const auto out = device.allocate<double>(3);
  std::string body =
      "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  v_mov_b32 v1, 0\n  v_mov_b32 v2, 0\n  v_mov_b32 v3, 0x3ff00000\n";
  for (int segment = 0; segment < 3; ++segment)
    body += fmt::format("  v_trig_preop_f64 v[{0}:{1}], v[2:3], {2}\n", 4 + 2 * segment, 5 + 2 * segment, segment);
  body += "  s_waitcnt lgkmcnt(0)\n";
  for (int segment = 0; segment < 3; ++segment)
    body += fmt::format("  global_store_dwordx2 v1, v[{0}:{1}], s[4:5] offset:{2}\n", 4 + 2 * segment, 5 + 2 * segment,
                        8 * segment);
  device.run({.body = body}, {.block = {1, 1, 1}}, {out.address()});
  const long double half_pi = 1.57079632679489661923132169163975144L;
  const long double sum = static_cast<long double>(out[0]) + out[1] + out[2];
  CHECK(std::fabs(sum * half_pi - 1) < 0x1p-60L);
  CHECK(out[0] == 0x1.45f306dc9c882p-1);
  CHECK(std::fabs(out[1]) < 0x1p-53);
  CHECK(std::fabs(out[2]) < 0x1p-106);
}

TEST_CASE("large arguments move the segment of 2/pi") {
  Device device;
  const auto out = device.allocate<double>(2);
  // 2^100 has exponent 1123: 46 bits further than 2^54's segment.
  const char* const body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 0
  v_mov_b32 v3, 0x46300000
  v_trig_preop_f64 v[4:5], v[2:3], 0
  v_mov_b32 v3, 0x7fe00000
  v_trig_preop_f64 v[6:7], v[2:3], 0
  s_waitcnt lgkmcnt(0)
  global_store_dwordx4 v1, v[4:7], s[4:5]
)";
  device.run({.body = body}, {.block = {1, 1, 1}}, {out.address()});
  constexpr long double kTwoOverPi = 0.636619772367581343075535053490057448L;
  const long double skipped = std::floor(kTwoOverPi * 0x1p46L);
  const long double rest = (kTwoOverPi * 0x1p46L - skipped) * 0x1p-46L;
  CHECK(std::fabs(out[0] - rest) < 0x1p-63L);
  CHECK(out[1] > 0);
  CHECK(std::ilogb(out[1]) < 128 - (2046 - 1077));  // scaled by 2^128
}

}  // namespace
}  // namespace monojit::emulator::test
