// What MODE changes: rounding, denormals, signalling NaNs, clamping of NaN, output modifiers. Half is compared with
// exact sums rounded here; f32 and f64 with the host's own directed rounding.
#include <cfenv>
#include <cmath>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/emulator/lane_cases.h"
#include "tests/emulator/lane_values.h"

namespace monojit::emulator::test {
namespace {

using std::uint32_t;
using std::uint64_t;

constexpr uint32_t kKeepDenormals = 3;
constexpr uint32_t kDefaultMode = 0x3f0;  // nearest, denormals kept, DX10_CLAMP, IEEE

/// Runs an instruction under other low ten bits of MODE.
std::string under(uint32_t mode, const std::string& text) {
  return fmt::format(
      "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), {:#x}\n  {}\n  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), "
      "{:#x}",
      mode, text, kDefaultMode);
}

uint32_t mode_of_halves(uint32_t round, uint32_t denormals = kKeepDenormals) {
  return (kDefaultMode & ~0xccu) | round << 2 | denormals << 6;
}
uint32_t mode_of_singles(uint32_t round, uint32_t denormals = kKeepDenormals) {
  return (kDefaultMode & ~0x33u) | round | denormals << 4;
}

/// An exact value rounded to an integer: nearest even, up, down, towards zero.
long double rounded_integer(long double x, uint32_t round) {
  switch (round) {
    case 1:
      return std::ceil(x);
    case 2:
      return std::floor(x);
    case 3:
      return std::trunc(x);
    default: {
      const long double below = std::floor(x), rest = x - below;
      const bool up = rest > 0.5L || (rest == 0.5L && std::fmod(below, 2.0L) != 0);
      return up ? below + 1 : below;
    }
  }
}

/// The nearest Half as a number, by the definition of the format: 11 bits, exponents from -14 to 15.
double half_of(long double exact, uint32_t round) {
  if (std::isnan(exact) || std::isinf(exact) || exact == 0) return static_cast<double>(exact);
  int exponent = 0;
  std::frexp(exact, &exponent);
  const int unit = std::max(exponent - 1, -14) - 10;
  const long double result = std::ldexp(rounded_integer(std::ldexp(exact, -unit), round), unit);
  if (std::fabs(result) <= 65504) return static_cast<double>(std::copysign(result, exact));
  const bool to_infinity = round == 0 || (round == 1 && exact > 0) || (round == 2 && exact < 0);
  return std::copysign(to_infinity ? INFINITY : 65504.0, static_cast<double>(exact));
}

uint64_t half_code(double x) { return std::bit_cast<std::uint16_t>(static_cast<f16>(x)); }

double flushed_half(double x) { return std::fabs(x) < 0x1p-14 ? std::copysign(0.0, x) : x; }

/// A sum; a zero one of terms that cancel is negative when rounding down.
long double sum_of(long double x, long double y, uint32_t round) {
  const long double sum = x + y;
  const bool cancels = sum == 0 && std::signbit(x) != std::signbit(y);
  return cancels ? (round == 2 ? -0.0L : 0.0L) : sum;
}

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

/// function(x, y, z) under one of the host's roundings. Volatile, as compilers know nothing of rounding modes.
template <class T, class Function>
T rounding(uint32_t round, Function function, T x, T y = 0, T z = 0) {
  constexpr int kHostRounding[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  const volatile T first = x, second = y, third = z;
  std::fesetround(kHostRounding[round]);
  const volatile T result = function(first, second, third);
  std::fesetround(FE_TONEAREST);
  return result;
}

TEST_CASE("Half arithmetic rounds as MODE says") {
  std::vector<LaneCase> cases;
  for (uint32_t round = 0; round < 4; ++round) {
    const auto add = [&](const char* text, Match match, auto expected) {
      cases.push_back({under(mode_of_halves(round), text), match, expected});
    };
    add("v_add_f16 v10, v2, v4", Match::kHalf,
        [=](const Lane& l) { return half_code(half_of(sum_of(h(l.a), h(l.b), round), round)); });
    add("v_sub_f16 v10, v2, v4", Match::kHalf,
        [=](const Lane& l) { return half_code(half_of(sum_of(h(l.a), -h(l.b), round), round)); });
    add("v_mul_f16 v10, v2, v4", Match::kHalf,
        [=](const Lane& l) { return half_code(half_of(static_cast<long double>(h(l.a)) * h(l.b), round)); });
    add("v_fma_legacy_f16 v10, v2, v4, v6", Match::kHalf, [=](const Lane& l) {
      return half_code(half_of(sum_of(static_cast<long double>(h(l.a)) * h(l.b), h(l.c), round), round));
    });
    add("v_mad_legacy_f16 v10, v2, v4, v6", Match::kHalf, [=](const Lane& l) {
      const double product = half_of(static_cast<long double>(h(l.a)) * h(l.b), round);
      return half_code(half_of(sum_of(product, h(l.c), round), round));
    });
    add("v_pk_add_f16 v10, v2, v4\n v_lshrrev_b32 v10, 16, v10", Match::kHalf,
        [=](const Lane& l) { return half_code(half_of(sum_of(h(l.a >> 16), h(l.b >> 16), round), round)); });
    add("v_pk_fma_f16 v10, v2, v4, v6\n v_and_b32 v10, 0xffff, v10", Match::kHalf, [=](const Lane& l) {
      return half_code(half_of(sum_of(static_cast<long double>(h(l.a)) * h(l.b), h(l.c), round), round));
    });
  }
  check_lane_cases(cases, Values::kHalves);
}

TEST_CASE("Half arithmetic flushes denormals as MODE says") {
  std::vector<LaneCase> cases;
  for (uint32_t denormals = 0; denormals < 4; ++denormals) {
    const auto in = [=](uint64_t x) { return (denormals & 1) != 0 ? h(x) : flushed_half(h(x)); };
    const auto out = [=](double x) { return half_code((denormals & 2) != 0 ? x : flushed_half(x)); };
    const auto add = [&](const char* text, Match match, auto expected) {
      cases.push_back({under(mode_of_halves(0, denormals), text), match, expected});
    };
    add("v_add_f16 v10, v2, v4", Match::kHalf,
        [=](const Lane& l) { return out(half_of(static_cast<long double>(in(l.a)) + in(l.b), 0)); });
    add("v_mul_f16 v10, v2, v4", Match::kHalf,
        [=](const Lane& l) { return out(half_of(static_cast<long double>(in(l.a)) * in(l.b), 0)); });
    add("v_cmp_gt_f16_e64 s[22:23], v2, v4", Match::kMask, [=](const Lane& l) { return in(l.a) > in(l.b); });
    add("v_cvt_f32_f16 v10, v2", Match::kFloat32, [=](const Lane& l) { return bits(static_cast<float>(in(l.a))); });
    add("v_max_f16 v10, v2, 0", Match::kHalf, [=](const Lane& l) {
      const bool signalling = (l.a & 0x7fff) > 0x7c00 && (l.a & 0x200) == 0;
      if (signalling) return (l.a & 0xffff) | 0x200;
      return std::isnan(h(l.a)) ? uint64_t{0} : out(std::fmax(in(l.a), 0.0) + 0.0);
    });
  }
  check_lane_cases(cases, Values::kHalves);
}

TEST_CASE("f32 becomes f16 as MODE says") {
  std::vector<LaneCase> cases;
  for (uint32_t round = 0; round < 4; ++round) {
    cases.push_back({under(mode_of_halves(round), "v_cvt_f16_f32 v10, v2"), Match::kHalf,
                     [=](const Lane& l) { return half_code(half_of(f(l.a), round)); }});
    cases.push_back({under(mode_of_halves(round),
                           "v_fma_mixlo_f16 v10, v2, 1.0, 0 op_sel_hi:[0,0,0]\n  v_and_b32 v10, "
                           "0xffff, v10"),
                     Match::kHalf, [=](const Lane& l) { return half_code(half_of(f(l.a) + 0.0f, round)); }});
  }
  cases.push_back({under(mode_of_halves(0, 0), "v_cvt_f16_f32 v10, v2"), Match::kHalf,
                   [](const Lane& l) { return half_code(flushed_half(half_of(f(l.a), 0))); }});
  cases.push_back(
      {"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\n  v_cvt_f16_f32 v10, v2\n"
       "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 0",
       Match::kHalf, [](const Lane& l) {
         const double x = half_of(f(l.a), 0);
         const bool overflow = std::isinf(x) && !std::isinf(f(l.a));
         return half_code(overflow ? std::copysign(65504.0, x) : x);
       }});
  check_lane_cases(cases, Values::kFloats);
}

TEST_CASE("f32 arithmetic rounds as MODE says") {
  std::vector<LaneCase> cases;
  for (uint32_t round = 0; round < 4; ++round) {
    const auto add = [&](const char* text, auto expected) {
      cases.push_back({under(mode_of_singles(round), text), Match::kFloat32, expected});
    };
    add("v_add_f32 v10, v2, v4", [=](const Lane& l) {
      return bits(rounding(round, [](float x, float y, float) { return x + y; }, f(l.a), f(l.b)));
    });
    add("v_mul_f32 v10, v2, v4", [=](const Lane& l) {
      return bits(rounding(round, [](float x, float y, float) { return x * y; }, f(l.a), f(l.b)));
    });
    add("v_fma_f32 v10, v2, v4, v6", [=](const Lane& l) {
      return bits(rounding(round, [](float x, float y, float z) { return std::fma(x, y, z); }, f(l.a), f(l.b), f(l.c)));
    });
    add("v_cvt_f32_i32 v10, v2", [=](const Lane& l) {
      const volatile std::int32_t integer = s(l.a32());
      return bits(rounding(round, [&](float, float, float) { return static_cast<float>(integer); }, 0.0f));
    });
  }
  check_lane_cases(cases, Values::kFloats);
}

TEST_CASE("f64 arithmetic rounds as MODE says") {
  std::vector<LaneCase> cases;
  for (uint32_t round = 0; round < 4; ++round) {
    const auto add = [&](const char* text, auto expected) {
      cases.push_back({under(mode_of_halves(round), text), Match::kFloat64, expected});
    };
    add("v_add_f64 v[10:11], v[2:3], v[4:5]", [=](const Lane& l) {
      return bits(rounding(round, [](double x, double y, double) { return x + y; }, d(l.a), d(l.b)));
    });
    add("v_fma_f64 v[10:11], v[2:3], v[4:5], v[6:7]", [=](const Lane& l) {
      return bits(
          rounding(round, [](double x, double y, double z) { return std::fma(x, y, z); }, d(l.a), d(l.b), d(l.c)));
    });
  }
  check_lane_cases(cases, Values::kDoubles);
}

/// v_min_f32 and v_max_f32 without IEEE: every NaN loses.
uint64_t extreme(float x, float y, bool larger) {
  if (std::isnan(x)) return bits(y);
  if (std::isnan(y)) return bits(x);
  if (x == 0 && y == 0) return larger ? bits(x) & bits(y) : bits(x) | bits(y);
  return bits((x < y) == larger ? y : x);
}

TEST_CASE("f32 operations without host instructions flush denormals and obey the IEEE bit") {
  constexpr uint32_t kIeee = 0x200, kDx10Clamp = 0x100;
  const uint32_t flush = mode_of_singles(0, 0), no_ieee = kDefaultMode & ~kIeee;
  const LaneCase cases[] = {
      {under(flush & ~kIeee, "v_min_f32 v10, v2, v4"), Match::kFloat32,
       [](const Lane& l) { return extreme(flushed(f(l.a)), flushed(f(l.b)), false); }},
      {under(no_ieee, "v_max_f32 v10, v2, v4"), Match::kFloat32,
       [](const Lane& l) { return extreme(f(l.a), f(l.b), true); }},
      {under(flush, "v_cmp_lt_f32_e64 s[22:23], v2, v4"), Match::kMask,
       [](const Lane& l) { return flushed(f(l.a)) < flushed(f(l.b)); }},
      {under(flush, "v_frexp_exp_i32_f32 v10, v2"), Match::kBits32,
       [](const Lane& l) {
         int exponent = 0;
         if (std::isfinite(f(l.a))) std::frexp(flushed(f(l.a)), &exponent);
         return u(exponent);
       }},
      {under(flush, "v_frexp_mant_f32 v10, v2"), Match::kFloat32,
       [](const Lane& l) {
         int exponent = 0;
         return bits(std::frexp(flushed(f(l.a)), &exponent));
       }},
      {under(flush, "v_med3_f32 v10, v2, v4, 0"), Match::kFloat32,
       [](const Lane& l) {
         const float x = flushed(f(l.a)), y = flushed(f(l.b));
         const auto signalling = [](float value) { return std::isnan(value) && (bits(value) & 0x400000) == 0; };
         // min3 of the two, which a signalling NaN makes a quiet one, and zero
         if (signalling(f(l.a)) || signalling(f(l.b))) return bits(0.0f);
         if (std::isnan(x) || std::isnan(y)) return extreme(static_cast<float>(f(extreme(x, y, false))), 0.0f, false);
         const float low = f(extreme(x, y, false)), high = f(extreme(x, y, true));
         return extreme(low, f(extreme(high, 0.0f, false)), true);
       }},
      {under(kDefaultMode & ~kDx10Clamp, "v_add_f32_e64 v10, v2, v4 clamp"), Match::kFloat32,
       [](const Lane& l) {
         const float sum = f(l.a) + f(l.b);
         return bits(std::isnan(sum) ? sum : sum > 0 ? std::fmin(sum, 1.0f) : 0.0f);
       }},
      {under(flush & ~kIeee, "v_mul_f32_e64 v10, v2, v4 mul:4"), Match::kFloat32,
       [](const Lane& l) {
         const float product = flushed(flushed(f(l.a)) * flushed(f(l.b)));
         return bits(product * 4 + 0.0f);
       }},
      {"v_mul_f32_e64 v10, v2, v4 mul:4", Match::kFloat32, [](const Lane& l) { return bits(f(l.a) * f(l.b)); }},
  };
  check_lane_cases(cases, Values::kFloats);
}

}  // namespace
}  // namespace monojit::emulator::test
