// gfx950's conversions between f32, f16, bf16 and 8-, 6- and 4-bit numbers with a scale. A narrow number is found by
// looking at all codes of its format for the nearest.
#include <cmath>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/emulator/lane_cases.h"
#include "tests/emulator/lane_values.h"

namespace monojit::emulator::test {
namespace {

using std::uint32_t;
using std::uint64_t;

struct Narrow {
  const char* name;
  int exponent_bits, mantissa_bits, bias;
  uint32_t largest;   ///< code of the largest finite magnitude
  uint32_t overflow;  ///< what is too large becomes
  bool has_nan;       ///< all ones; else a NaN becomes zero

  [[nodiscard]] uint32_t sign() const { return 1u << (exponent_bits + mantissa_bits); }
  [[nodiscard]] double magnitude(uint32_t code) const {
    const uint32_t mantissa = code & ((1u << mantissa_bits) - 1), exponent = code >> mantissa_bits;
    const double fraction = mantissa / static_cast<double>(1u << mantissa_bits);
    return exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, static_cast<int>(exponent) - bias);
  }
  [[nodiscard]] double value(uint32_t code) const {
    const uint32_t size = code & (sign() - 1);
    const double x =
        size > largest ? (has_nan && size == overflow && mantissa_bits == 2 ? INFINITY : NAN) : magnitude(size);
    return (code & sign()) != 0 ? -x : x;
  }
  [[nodiscard]] uint32_t code(double x) const {
    const uint32_t negative = std::signbit(x) ? sign() : 0;
    if (std::isnan(x)) return has_nan ? negative | (sign() - 1) : 0;
    const double size = std::fabs(x);
    // Between the largest and what would be the next number the middle decides, as a tie away from it.
    const double limit = magnitude(largest) + (magnitude(largest) - magnitude(largest - 1)) / 2;
    const bool odd_largest = (largest & 1) != 0;
    if (size > limit || (size == limit && odd_largest)) return negative | overflow;
    uint32_t best = 0;
    for (uint32_t candidate = 1; candidate <= largest; ++candidate) {
      const double distance = std::fabs(magnitude(candidate) - size), least = std::fabs(magnitude(best) - size);
      if (distance < least || (distance == least && candidate % 2 == 0)) best = candidate;
    }
    return negative | best;
  }
};

constexpr Narrow kFp8 = {"fp8", 4, 3, 7, 0x7e, 0x7f, true};
constexpr Narrow kBf8 = {"bf8", 5, 2, 15, 0x7b, 0x7c, true};
constexpr Narrow kFp6 = {"fp6", 2, 3, 1, 0x1f, 0x1f, false};
constexpr Narrow kBf6 = {"bf6", 3, 2, 3, 0x1f, 0x1f, false};
constexpr Narrow kFp4 = {"fp4", 2, 1, 1, 7, 7, false};

/// 2^(e - 127) of an f32's exponent field; 255 is NaN.
double scale_of(uint32_t word) {
  const int exponent = static_cast<int>(word >> 23 & 0xff);
  return exponent == 255 ? NAN : std::ldexp(1.0, exponent - 127);
}

float brain(uint64_t bits) { return f(bits << 16); }
uint64_t brain_code(double x) {
  const uint64_t word = bits(static_cast<float>(x));
  if (std::isnan(x)) return word >> 16 | 0x40;
  return (word + 0x7fff + (word >> 16 & 1)) >> 16 & 0xffff;
}
uint64_t half_code(double x) { return std::bit_cast<std::uint16_t>(static_cast<f16>(x)); }

using Widen = double (*)(uint64_t);
struct Wide {
  const char* name;
  Widen widen;
};
constexpr Wide kHalf = {"f16", [](uint64_t x) { return h(x); }};
constexpr Wide kBrain = {"bf16", [](uint64_t x) { return static_cast<double>(brain(x)); }};

uint32_t codes(const Narrow& to, double low, double high, uint32_t scale) {
  const double factor = scale_of(scale);
  const int width = to.mantissa_bits == 1 ? 4 : 8;
  if (std::isnan(factor)) return to.code(NAN) | to.code(NAN) << width;  // a NaN's sign is nowhere defined
  return to.code(low / factor) | to.code(high / factor) << width;
}

TEST_CASE("f32 pairs become 8-bit and 4-bit numbers with a scale") {
  std::vector<LaneCase> cases;
  for (const Narrow& to : {kFp8, kBf8}) {
    cases.push_back({fmt::format("v_cvt_scalef32_pk_{}_f32 v10, v2, v4, v6", to.name), Match::kBits32,
                     [=](const Lane& l) { return low_half(kOldResult, codes(to, f(l.a), f(l.b), l.c32())); }});
    cases.push_back({fmt::format("v_cvt_scalef32_pk_{}_f32 v10, v2, v4, 2.0 op_sel:[0,0,0,1]", to.name), Match::kBits32,
                     [=](const Lane& l) { return high_half(kOldResult, codes(to, f(l.a), f(l.b), 0x40000000)); }});
  }
  cases.push_back({"v_cvt_scalef32_pk_fp4_f32 v10, v2, v4, v6 op_sel:[0,0,1,0]", Match::kBits32,
                   [](const Lane& l) { return (kOldResult & ~0xff00u) | codes(kFp4, f(l.a), f(l.b), l.c32()) << 8; }});
  check_lane_cases(cases, Values::kFloats);
}

constexpr uint32_t kDefaultMode = 0x3f0;  // nearest, denormals kept, DX10_CLAMP, IEEE

/// Both roundings of MODE (1 up, 2 down, 3 towards zero), and whether f32 denormals count as zero, in and out.
struct OtherMode {
  uint32_t round;
  bool flush32;

  [[nodiscard]] std::string around(const std::string& text) const {
    const uint32_t mode = (kDefaultMode & ~(flush32 ? 0x30u : 0u)) | round | round << 2;
    return fmt::format(
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), {:#x}\n  {}\n  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), "
        "{:#x}",
        mode, text, kDefaultMode);
  }
  [[nodiscard]] float seen(float x) const {
    return flush32 && std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x;
  }
};
constexpr OtherMode kOtherModes[] = {{0, true}, {1, false}, {2, false}, {3, false}, {1, true}, {2, true}};

TEST_CASE("conversions to narrow numbers round to nearest whatever MODE says, and only f32 denormals obey it") {
  std::vector<LaneCase> cases;
  std::string blocks;
  for (int i = 0; i < 16; ++i) blocks += fmt::format("v_mov_b32 v{}, v2\n  v_mov_b32 v{}, v4\n  ", 20 + i, 36 + i);
  for (const OtherMode& mode : kOtherModes) {
    const auto pair = [=](const Narrow& to, const Lane& l, uint32_t scale) {
      return codes(to, mode.seen(f(l.a)), mode.seen(f(l.b)), scale);
    };
    for (const Narrow& to : {kFp8, kBf8}) {
      cases.push_back({mode.around(fmt::format("v_cvt_pk_{}_f32 v10, v2, v4", to.name)), Match::kBits32,
                       [=](const Lane& l) { return low_half(kOldResult, codes(to, f(l.a), f(l.b), 0x3f800000)); }});
      cases.push_back({mode.around(fmt::format("v_cvt_scalef32_pk_{}_f32 v10, v2, v4, v6", to.name)), Match::kBits32,
                       [=](const Lane& l) { return low_half(kOldResult, pair(to, l, l.c32())); }});
    }
    cases.push_back({mode.around("v_cvt_scalef32_pk_fp4_f32 v10, v2, v4, v6"), Match::kBits32,
                     [=](const Lane& l) { return (kOldResult & ~0xffu) | pair(kFp4, l, l.c32()); }});
    for (const Narrow& to : {kFp6, kBf6}) {
      cases.push_back(
          {mode.around(blocks + fmt::format("v_cvt_scalef32_2xpk16_{}_f32 v[10:15], v[20:35], v[36:51], v6", to.name)),
           Match::kBits32, [=](const Lane& l) {
             uint64_t word = 0;
             for (unsigned i = 0; i < 6; ++i) {
               const double x = mode.seen(f(i % 2 == 0 ? l.a : l.b)) / scale_of(l.c32());
               word |= uint64_t{to.code(x)} << (6 * i);
             }
             return static_cast<uint32_t>(word);
           }});
    }
    cases.push_back({mode.around("v_cvt_pk_bf16_f32 v10, v2, v4"), Match::kBits32, [](const Lane& l) {
                       return static_cast<uint32_t>(brain_code(f(l.a)) | brain_code(f(l.b)) << 16);
                     }});
  }
  check_lane_cases(cases, Values::kFloats);
}

TEST_CASE("narrow numbers with a scale become f32 and f16 to nearest whatever MODE says, and f32 denormals obey it") {
  std::vector<LaneCase> cases;
  for (const OtherMode& mode : kOtherModes) {
    for (const Narrow& from : {kFp8, kBf8}) {
      const auto value = [=](const Lane& l) {
        return from.value(static_cast<uint32_t>(l.a & 0xff)) * scale_of(l.b32());
      };
      cases.push_back({mode.around(fmt::format("v_cvt_scalef32_f32_{} v10, v2, v4", from.name)), Match::kFloat32,
                       [=](const Lane& l) { return bits(mode.seen(static_cast<float>(value(l)))); }});
      cases.push_back(
          {mode.around(fmt::format("v_cvt_scalef32_f16_{} v10, v2, v4\n  v_and_b32 v10, 0xffff, v10", from.name)),
           Match::kHalf, [=](const Lane& l) { return half_code(value(l)); }});
    }
  }
  check_lane_cases(cases, Values::kFloats);
}

TEST_CASE("f16 and bf16 pairs become 8-bit and 4-bit numbers with a scale") {
  std::vector<LaneCase> cases;
  for (const Wide& from : {kHalf, kBrain}) {
    for (const Narrow& to : {kFp8, kBf8, kFp4}) {
      const bool nibbles = to.mantissa_bits == 1;
      cases.push_back(
          {fmt::format("v_cvt_scalef32_pk_{}_{} v10, v2, v6", to.name, from.name), Match::kBits32, [=](const Lane& l) {
             const uint32_t both = codes(to, from.widen(l.a & 0xffff), from.widen(l.a >> 16 & 0xffff), l.c32());
             return nibbles ? (kOldResult & ~0xffu) | both : low_half(kOldResult, both);
           }});
    }
  }
  check_lane_cases(cases, Values::kHalves);
}

TEST_CASE("8-bit and 4-bit numbers become f32, f16 and bf16 with a scale") {
  std::vector<LaneCase> cases;
  for (const Narrow& from : {kFp8, kBf8}) {
    const auto value = [=](const Lane& l, unsigned byte) {
      return from.value(static_cast<uint32_t>(l.a >> (8 * byte) & 0xff)) * scale_of(l.b32());
    };
    cases.push_back({fmt::format("v_cvt_scalef32_f32_{} v10, v2, v4 op_sel:[1,1]", from.name), Match::kFloat32,
                     [=](const Lane& l) { return bits(static_cast<float>(value(l, 3))); }});
    cases.push_back(
        {fmt::format("v_cvt_scalef32_f16_{} v10, v2, v4 op_sel:[1,0]\n  v_and_b32 v10, 0xffff, v10", from.name),
         Match::kHalf, [=](const Lane& l) { return half_code(value(l, 1)); }});
    cases.push_back({fmt::format("v_cvt_scalef32_pk_f32_{} v[10:11], v2, v4 op_sel:[1,0]", from.name),
                     Match::kFloatPair, [=](const Lane& l) {
                       return bits(static_cast<float>(value(l, 2))) | bits(static_cast<float>(value(l, 3))) << 32;
                     }});
    cases.push_back({fmt::format("v_cvt_scalef32_pk_f16_{} v10, v2, v4\n  v_lshrrev_b32 v10, 16, v10", from.name),
                     Match::kHalf, [=](const Lane& l) { return half_code(value(l, 1)); }});
    cases.push_back({fmt::format("v_cvt_scalef32_pk_bf16_{} v10, v2, v4\n  v_lshlrev_b32 v10, 16, v10", from.name),
                     Match::kFloat32, [=](const Lane& l) { return brain_code(value(l, 0)) << 16; }});
  }
  const auto nibble = [](const Lane& l, unsigned index) {
    return kFp4.value(static_cast<uint32_t>(l.a >> (4 * index) & 15)) * scale_of(l.b32());
  };
  cases.push_back({"v_cvt_scalef32_pk_f32_fp4 v[10:11], v2, v4 op_sel:[1,0]", Match::kFloatPair, [=](const Lane& l) {
                     return bits(static_cast<float>(nibble(l, 2))) | bits(static_cast<float>(nibble(l, 3))) << 32;
                   }});
  cases.push_back({"v_cvt_scalef32_pk_f16_fp4 v10, v2, v4\n  v_lshrrev_b32 v10, 16, v10", Match::kHalf,
                   [=](const Lane& l) { return half_code(nibble(l, 1)); }});
  cases.push_back({"v_cvt_scalef32_pk_bf16_fp4 v10, v2, v4\n  v_lshlrev_b32 v10, 16, v10", Match::kFloat32,
                   [=](const Lane& l) { return brain_code(nibble(l, 0)) << 16; }});
  check_lane_cases(cases, Values::kIntegers);
}

TEST_CASE("blocks of 32 numbers become 6-bit ones and come back") {
  std::vector<LaneCase> cases;
  for (const Narrow& format : {kFp6, kBf6}) {
    // All 32 elements are the same two numbers in turn; elements 0, 1 and (in the next word) 30, 31 are looked at.
    const auto spread = [](const char* type) {
      std::string text;
      for (int i = 0; i < 16; ++i) text += fmt::format("v_mov_b32 v{}, v2\n  ", 20 + i);
      return text + fmt::format("v_cvt_scalef32_pk32_{{}}_{} v[10:15], v[20:35], v6", type);
    };
    for (const Wide& from : {kHalf, kBrain}) {
      cases.push_back({fmt::format(fmt::runtime(spread(from.name)), format.name), Match::kBits32, [=](const Lane& l) {
                         uint64_t word = 0;
                         for (unsigned i = 0; i < 6; ++i) {
                           const double x = from.widen(l.a >> (16 * (i % 2)) & 0xffff) / scale_of(l.c32());
                           word |= uint64_t{format.code(x)} << (6 * i);
                         }
                         return static_cast<uint32_t>(word);
                       }});
    }
    std::string widen;
    for (int i = 0; i < 6; ++i) widen += fmt::format("v_mov_b32 v{}, v2\n  ", 12 + i);
    widen += fmt::format(
        "v_cvt_scalef32_pk32_f32_{} v[20:51], v[12:17], v4\n  v_mov_b32 v10, v21\n  v_mov_b32 v11, v51", format.name);
    cases.push_back({widen, Match::kFloatPair, [=](const Lane& l) {
                       const uint32_t word = l.a32();
                       const double scale = scale_of(l.b32());
                       const double second = format.value(word >> 6 & 63) * scale,
                                    last = format.value(word >> 26) * scale;
                       return bits(static_cast<float>(second)) | bits(static_cast<float>(last)) << 32;
                     }});
  }
  check_lane_cases(cases, Values::kHalves);
}

}  // namespace
}  // namespace monojit::emulator::test
