// Half: every operation on one, two and three numbers, and their packed forms, against exact values rounded once.
#include <algorithm>
#include <cmath>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/emulator/lane_cases.h"
#include "tests/emulator/lane_values.h"

namespace monojit::emulator::test {
namespace {

using std::uint32_t;
using std::uint64_t;

uint64_t code(double x) { return std::bit_cast<std::uint16_t>(static_cast<f16>(x)); }
bool is_nan(uint64_t x) { return (x & 0x7fff) > 0x7c00; }
bool is_signalling(uint64_t x) { return is_nan(x) && (x & 0x200) == 0; }
constexpr uint64_t kNaN = 0x7e00;

/// v_min_f16, v_max_f16 in IEEE mode.
uint64_t extreme(uint64_t x, uint64_t y, bool larger) {
  x &= 0xffff, y &= 0xffff;
  if (is_signalling(x)) return x | 0x200;
  if (is_signalling(y)) return y | 0x200;
  if (is_nan(x)) return y;
  if (is_nan(y)) return x;
  if (h(x) == 0 && h(y) == 0) return larger ? x & y : x | y;
  return (h(x) < h(y)) == larger ? y : x;
}

/// IEEE 754-2019 minimum and maximum: any NaN wins.
uint64_t strict_extreme(uint64_t x, uint64_t y, bool larger) {
  return is_nan(x) || is_nan(y) ? kNaN : extreme(x, y, larger);
}

uint64_t median(uint64_t x, uint64_t y, uint64_t z) {
  if (is_nan(x) || is_nan(y) || is_nan(z)) return extreme(extreme(x, y, false), z, false);
  return extreme(extreme(x, y, false), extreme(extreme(x, y, true), z, false), true);
}

/// The packed form of a row: v10 = both halves.
LaneCase packed(const std::string& text, const std::function<uint64_t(uint64_t, uint64_t, uint64_t)>& half,
                bool upper) {
  const unsigned shift = upper ? 16 : 0;
  return {text + fmt::format("\n  v_bfe_u32 v10, v10, {}, 16", shift), Match::kHalf,
          [=](const Lane& l) { return half(l.a >> shift & 0xffff, l.b >> shift & 0xffff, l.c >> shift & 0xffff); }};
}

TEST_CASE("Half arithmetic of two and three numbers") {
  const LaneCase cases[] = {
      {"v_subrev_f16 v10, v2, v4", Match::kHalf, [](const Lane& l) { return code(h(l.b) - h(l.a)); }},
      {"v_min_f16 v10, v2, v4", Match::kHalf, [](const Lane& l) { return extreme(l.a, l.b, false); }},
      {"v_max_f16 v10, v2, v4", Match::kHalf, [](const Lane& l) { return extreme(l.a, l.b, true); }},
      {"v_min3_f16 v10, v2, v4, v6", Match::kHalf,
       [](const Lane& l) { return extreme(extreme(l.a, l.b, false), l.c, false); }},
      {"v_max3_f16 v10, v2, v4, v6", Match::kHalf,
       [](const Lane& l) { return extreme(extreme(l.a, l.b, true), l.c, true); }},
      {"v_med3_f16 v10, v2, v4, v6", Match::kHalf,
       [](const Lane& l) { return median(l.a & 0xffff, l.b & 0xffff, l.c & 0xffff); }},
      {"v_mov_b32 v10, v6\n v_mac_f16 v10, v2, v4", Match::kHalf,
       [](const Lane& l) { return code(h(code(h(l.a) * h(l.b))) + h(l.c)); }},
      {"v_madak_f16 v10, v2, v4, 0x3555", Match::kHalf,
       [](const Lane& l) { return code(h(code(h(l.a) * h(l.b))) + h(0x3555)); }},
      {"v_madmk_f16 v10, v2, 0x3555, v4", Match::kHalf,
       [](const Lane& l) { return code(h(code(h(l.a) * h(0x3555))) + h(l.b)); }},
      {"v_mad_f16 v10, v2, v4, v6\n v_xor_b32 v10, 0x5a5a0000, v10", Match::kHalf,
       [](const Lane& l) { return code(h(code(h(l.a) * h(l.b))) + h(l.c)); }},
      {"v_ldexp_f16 v10, v2, v4", Match::kHalf,
       [](const Lane& l) { return code(std::ldexp(h(l.a), static_cast<int>(field(l.b, 0, 16, true)))); }},
      {"v_pack_b32_f16 v10, v2, v4 op_sel:[1,0]", Match::kBits32,
       [](const Lane& l) { return l.a32() >> 16 | (l.b32() & 0xffff) << 16; }},
      {"v_div_fixup_legacy_f16 v10, v2, v4, v6", Match::kHalf,
       [](const Lane& l) {
         const double denominator = h(l.b), numerator = h(l.c);
         const double quotient = numerator / denominator;
         const bool special = std::isnan(quotient) || denominator == 0 || numerator == 0 || std::isinf(denominator) ||
                              std::isinf(numerator);
         const bool negative = std::signbit(denominator) != std::signbit(numerator);
         return special ? code(quotient) : (l.a & 0x7fff) | (negative ? 0x8000 : 0);
       }},
      {"v_div_fixup_f16 v10, v2, v4, v6 op_sel:[0,0,0,1]\n v_and_b32 v10, 0xffff, v10", Match::kBits32,
       [](const Lane&) { return kOldResult & 0xffff; }},
  };
  check_lane_cases(cases, Values::kHalves);
}

TEST_CASE("Half functions of one number") {
  const auto exact = [](const char* name, double (*function)(double)) {
    return LaneCase{fmt::format("v_{}_f16 v10, v2", name), Match::kHalf,
                    [=](const Lane& l) { return code(function(h(l.a))); }};
  };
  const LaneCase cases[] = {
      exact("floor", [](double x) { return std::floor(x); }),
      exact("ceil", [](double x) { return std::ceil(x); }),
      exact("trunc", [](double x) { return std::trunc(x); }),
      exact("rndne", [](double x) { return std::nearbyint(x); }),
      exact("rcp", [](double x) { return 1 / x; }),
      exact("sqrt", [](double x) { return std::sqrt(x); }),
      exact("rsq", [](double x) { return 1 / std::sqrt(x); }),
      exact("exp", [](double x) { return std::exp2(x); }),
      exact("fract", [](double x) { return std::isfinite(x) ? std::fmin(x - std::floor(x), 0x1.ffcp-1) : NAN; }),
      exact("frexp_mant",
            [](double x) {
              int exponent = 0;
              return std::frexp(x, &exponent);
            }),
      {"v_frexp_exp_i16_f16 v10, v2", Match::kBits32,
       [](const Lane& l) {
         int exponent = 0;
         if (std::isfinite(h(l.a))) std::frexp(h(l.a), &exponent);
         return u(exponent) & 0xffff;
       }},
      {"v_cvt_i16_f16 v10, v2", Match::kBits32,
       [](const Lane& l) {
         const double x = std::isnan(h(l.a)) ? 0 : std::clamp(std::trunc(h(l.a)), -32768.0, 32767.0);
         return u(static_cast<std::int64_t>(x)) & 0xffff;
       }},
      {"v_cvt_u16_f16 v10, v2", Match::kBits32,
       [](const Lane& l) {
         const double x = std::isnan(h(l.a)) ? 0 : std::clamp(std::trunc(h(l.a)), 0.0, 65535.0);
         return u(static_cast<std::int64_t>(x));
       }},
      {"v_cvt_norm_i16_f16 v10, v2", Match::kBits32,
       [](const Lane& l) {
         const double x = std::isnan(h(l.a)) ? 0 : std::nearbyint(std::clamp(h(l.a), -1.0, 1.0) * 32767);
         return u(static_cast<std::int64_t>(x)) & 0xffff;
       }},
      {"v_cvt_norm_u16_f16 v10, v2", Match::kBits32,
       [](const Lane& l) {
         const double x = std::isnan(h(l.a)) ? 0 : std::nearbyint(std::clamp(h(l.a), 0.0, 1.0) * 65535);
         return u(static_cast<std::int64_t>(x));
       }},
      {"v_cvt_f16_i16 v10, v2", Match::kHalf,
       [](const Lane& l) { return code(static_cast<double>(field(l.a, 0, 16, true))); }},
      {"v_cvt_f16_u16 v10, v2", Match::kHalf,
       [](const Lane& l) { return code(static_cast<double>(field(l.a, 0, 16, false))); }},
      {"v_cvt_pknorm_i16_f16 v10, v2, v4\n v_lshrrev_b32 v10, 16, v10", Match::kBits32,
       [](const Lane& l) {
         const double x = std::isnan(h(l.b)) ? 0 : std::nearbyint(std::clamp(h(l.b), -1.0, 1.0) * 32767);
         return u(static_cast<std::int64_t>(x)) & 0xffff;
       }},
      {"v_cvt_pknorm_u16_f16 v10, v2, v4\n v_and_b32 v10, 0xffff, v10", Match::kBits32,
       [](const Lane& l) {
         const double x = std::isnan(h(l.a)) ? 0 : std::nearbyint(std::clamp(h(l.a), 0.0, 1.0) * 65535);
         return u(static_cast<std::int64_t>(x));
       }},
  };
  check_lane_cases(cases, Values::kHalves);
}

TEST_CASE("packed Half arithmetic works on both halves") {
  std::vector<LaneCase> cases;
  for (const bool upper : {false, true}) {
    const auto add = [&](const char* text, std::function<uint64_t(uint64_t, uint64_t, uint64_t)> half) {
      cases.push_back(packed(text, half, upper));
    };
    add("v_pk_add_f16 v10, v2, v4", [](uint64_t x, uint64_t y, uint64_t) { return code(h(x) + h(y)); });
    add("v_pk_mul_f16 v10, v2, v4", [](uint64_t x, uint64_t y, uint64_t) { return code(h(x) * h(y)); });
    add("v_pk_min_f16 v10, v2, v4", [](uint64_t x, uint64_t y, uint64_t) { return extreme(x, y, false); });
    add("v_pk_max_f16 v10, v2, v4", [](uint64_t x, uint64_t y, uint64_t) { return extreme(x, y, true); });
    add("v_pk_minimum3_f16 v10, v2, v4, v6",
        [](uint64_t x, uint64_t y, uint64_t z) { return strict_extreme(strict_extreme(x, y, false), z, false); });
    add("v_pk_maximum3_f16 v10, v2, v4, v6",
        [](uint64_t x, uint64_t y, uint64_t z) { return strict_extreme(strict_extreme(x, y, true), z, true); });
    add("v_mov_b32 v10, v6\n v_pk_fmac_f16 v10, v2, v4",
        [](uint64_t x, uint64_t y, uint64_t z) { return code(h(x) * h(y) + h(z)); });
    add("v_pk_add_f16 v10, v2, v4 clamp", [](uint64_t x, uint64_t y, uint64_t) {
      const double sum = h(code(h(x) + h(y)));
      return code(sum > 0 ? std::fmin(sum, 1) : 0);
    });
  }
  check_lane_cases(cases, Values::kHalves);
}

TEST_CASE("mixed multiply-adds choose each source's format") {
  const auto mixed = [](const char* name, const char* clean, Match match, auto result) {
    return LaneCase{fmt::format("v_{} v10, v2, v4, -|v6| op_sel:[1,0,1] op_sel_hi:[1,0,1]\n  {}", name, clean), match,
                    [=](const Lane& l) {
                      const float sum = std::fma(static_cast<float>(h(l.a >> 16)), f(l.b),
                                                 -std::fabs(static_cast<float>(h(l.c >> 16))));
                      return result(sum);
                    }};
  };
  const LaneCase cases[] = {
      mixed("fma_mix_f32", "s_nop 0", Match::kFloat32, [](float x) { return bits(x); }),
      mixed("fma_mixlo_f16", "v_and_b32 v10, 0xffff, v10", Match::kHalf, [](float x) { return code(x); }),
      mixed("fma_mixhi_f16", "v_lshrrev_b32 v10, 16, v10", Match::kHalf, [](float x) { return code(x); }),
      mixed("fma_mixhi_f16", "v_and_b32 v10, 0xffff, v10", Match::kBits32, [](float) { return kOldResult & 0xffff; }),
  };
  check_lane_cases(cases, Values::kHalves);
}

}  // namespace
}  // namespace monojit::emulator::test
