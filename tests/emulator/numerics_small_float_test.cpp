// 8-, 6- and 4-bit formats against tables: a code's value from its fields in double, a rounding by search in those
// values.
#include <numeric>

#include <catch2/catch_test_macros.hpp>

#include "tests/emulator/numerics_support.h"

namespace monojit::emulator::numerics_test {
namespace {

constexpr int kRandomOperands = 400000;
constexpr std::uint32_t kNan = 0x7FC00000;

enum class Specials { kOcpE4M3, kIeee, kFnuz, kNone };

struct Format {
  const char* name;
  int exponent_bits, mantissa_bits, bias;
  Specials specials;
  LaneOperation LaneTable::* decode;
  LaneOperation LaneTable::* encode;
  LaneOperation LaneTable::* stochastic;

  [[nodiscard]] int codes() const { return 1 << (exponent_bits + mantissa_bits); }

  /// Value of a magnitude code as if none were special.
  [[nodiscard]] double field_value(int code) const {
    const int exponent = code >> mantissa_bits;
    const int mantissa = code & ((1 << mantissa_bits) - 1);
    if (exponent == 0) return std::ldexp(mantissa, 1 - bias - mantissa_bits);
    return std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
  }

  [[nodiscard]] int largest() const {
    if (specials == Specials::kOcpE4M3) return codes() - 2;
    if (specials == Specials::kIeee) return codes() - (1 << mantissa_bits) - 1;
    return codes() - 1;
  }

  [[nodiscard]] bool is_special(int code) const {
    if (specials == Specials::kFnuz) return code == codes();
    return (code & (codes() - 1)) > largest();
  }

  /// f32 bits of a code, from the format's definition.
  [[nodiscard]] std::uint32_t value(int code) const {
    const int size = code & (codes() - 1);
    const std::uint32_t sign = code >= codes() ? 0x80000000U : 0;
    if (is_special(code)) return specials == Specials::kIeee && size == largest() + 1 ? sign | 0x7F800000U : kNan;
    return sign | as_bits(static_cast<float>(field_value(size)));
  }

  /// Magnitude code nearest to |x|, ties to the even code; one past the largest stands for every overflow.
  [[nodiscard]] int nearest(double size) const {
    int low = 0;
    while (low <= largest() && field_value(low + 1) <= size) ++low;
    if (low > largest()) return largest() + 1;
    const double below = size - field_value(low);
    const double above = field_value(low + 1) - size;
    return below < above || (below == above && low % 2 == 0) ? low : low + 1;
  }

  /// What the instruction gives for a magnitude code that may be one past the largest.
  [[nodiscard]] std::uint32_t finish(std::uint32_t f32, int size, bool ovfl) const {
    const std::uint32_t sign = (f32 >> 31) != 0 ? static_cast<std::uint32_t>(codes()) : 0;
    const auto code = static_cast<std::uint32_t>(size);
    const auto limit = static_cast<std::uint32_t>(largest());
    if (specials == Specials::kNone) return sign | std::min(code, limit);
    if (code > limit && !ovfl) return specials == Specials::kFnuz ? 0x80U : sign | (limit + 1);
    if (specials == Specials::kFnuz && code == 0) return 0;
    return sign | std::min(code, limit);
  }
};

const Format kFormats[] = {
    {"E4M3", 4, 3, 7, Specials::kOcpE4M3, &LaneTable::decode_e4m3, &LaneTable::encode_e4m3,
     &LaneTable::stochastic_e4m3},
    {"E5M2", 5, 2, 15, Specials::kIeee, &LaneTable::decode_e5m2, &LaneTable::encode_e5m2, &LaneTable::stochastic_e5m2},
    {"E4M3 FNUZ", 4, 3, 8, Specials::kFnuz, &LaneTable::decode_e4m3_fnuz, &LaneTable::encode_e4m3_fnuz,
     &LaneTable::stochastic_e4m3_fnuz},
    {"E5M2 FNUZ", 5, 2, 16, Specials::kFnuz, &LaneTable::decode_e5m2_fnuz, &LaneTable::encode_e5m2_fnuz,
     &LaneTable::stochastic_e5m2_fnuz},
    {"E2M1", 2, 1, 1, Specials::kNone, &LaneTable::decode_e2m1, &LaneTable::encode_e2m1, &LaneTable::stochastic_e2m1},
    {"E2M3", 2, 3, 1, Specials::kNone, &LaneTable::decode_e2m3, &LaneTable::encode_e2m3, nullptr},
    {"E3M2", 3, 2, 3, Specials::kNone, &LaneTable::decode_e3m2, &LaneTable::encode_e3m2, nullptr},
};

/// Every value and midpoint of the format with its f32 neighbours, every bf16 pattern, f32 edges, and random patterns
/// about the format's range.
std::vector<std::uint32_t> operands_for(const Format& format) {
  std::vector<std::uint32_t> operands = f32_edges();
  for (int code = 0; code <= format.largest() + 1; ++code)
    for (const double value : {format.field_value(code), (format.field_value(code) + format.field_value(code + 1)) / 2})
      for (const std::uint32_t step : {~0U, 0U, 1U})
        for (const std::uint32_t sign : {0U, 0x80000000U})
          operands.push_back((as_bits(static_cast<float>(value)) + step) ^ sign);
  for (std::uint32_t pattern = 0; pattern < 65536; ++pattern) operands.push_back(pattern << 16);
  Random random;
  for (int i = 0; i < kRandomOperands; ++i) {
    const std::uint32_t exponent = static_cast<std::uint32_t>(127 + 20) - random() % 44;
    operands.push_back((random() & 0x807FFFFFU) | exponent << 23);
  }
  return operands;
}

}  // namespace

TEST_CASE("every code of the small formats decodes to the value of its fields") {
  for (const HostIsa isa : host_isas())
    for (const Format& format : kFormats) {
      INFO(format.name);
      std::vector<std::uint32_t> codes(2 * static_cast<std::size_t>(format.codes()));
      std::iota(codes.begin(), codes.end(), 0xABCD0000U);  // the high bits are to be ignored
      const auto values = run(lanes(isa).*format.decode, codes);
      Disagreements disagreements;
      for (std::size_t code = 0; code < codes.size(); ++code) {
        const std::uint32_t expected = format.value(static_cast<int>(code));
        disagreements.note(same(values[code], expected), code, 0, values[code], expected);
      }
      REQUIRE_AGREEMENT(disagreements);
    }
}

TEST_CASE("f32 rounds to the nearest code of the small formats, overflow by FP16_OVFL") {
  for (const HostIsa isa : host_isas())
    for (const Format& format : kFormats)
      for (const bool ovfl : {false, true}) {
        INFO(format.name << ", FP16_OVFL " << ovfl);
        const auto operands = operands_for(format);
        const auto results = run(lanes(isa).*format.encode, operands, {}, {}, ovfl);
        Disagreements disagreements;
        for (std::size_t i = 0; i < operands.size(); ++i) {
          const double size = std::fabs(static_cast<double>(as_float(operands[i])));
          if (is_nan(operands[i])) {
            const bool nan =
                format.specials == Specials::kNone ? results[i] == 0 : format.is_special(static_cast<int>(results[i]));
            disagreements.note(nan, operands[i], 0, results[i], kNan);
            continue;
          }
          const std::uint32_t expected = format.finish(operands[i], format.nearest(size), ovfl);
          disagreements.note(results[i] == expected, operands[i], 0, results[i], expected);
        }
        REQUIRE_AGREEMENT(disagreements);
      }
}

TEST_CASE("stochastic rounding takes the upper neighbour in proportion to the distance from the lower one") {
  constexpr std::uint32_t kSeeds = 4096;
  for (const HostIsa isa : host_isas())
    for (const Format& format : kFormats) {
      if (format.stochastic == nullptr) continue;
      INFO(format.name);
      for (int code = 0; code < format.largest(); ++code) {
        const double low = format.field_value(code);
        const double high = format.field_value(code + 1);
        std::vector<std::uint32_t> operands, seeds;
        for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
          operands.push_back(as_bits(static_cast<float>(low + (high - low) * 0.375)));
          seeds.push_back(seed << 20);
        }
        const auto results = run(lanes(isa).*format.stochastic, operands, seeds);
        const auto upper = static_cast<std::uint32_t>(code) + 1;
        const auto ups = std::count(results.begin(), results.end(), upper);
        const auto downs = std::count(results.begin(), results.end(), upper - 1);
        REQUIRE(ups == kSeeds * 3 / 8);
        REQUIRE(ups + downs == kSeeds);
      }
      // An exact value stays, whatever the seed.
      for (int code = 0; code <= format.largest(); ++code)
        REQUIRE(run_one(lanes(isa).*format.stochastic, format.value(code), 0xFFFFFFFFU) ==
                static_cast<std::uint32_t>(code));
    }
}

TEST_CASE("a packed fp8 conversion writes the chosen half and keeps the other") {
  for (const HostIsa isa : host_isas()) {
    const std::uint32_t lo = as_bits(1.0F);
    const std::uint32_t hi = as_bits(-448.0F);
    REQUIRE(run_one(lanes(isa).fp8_pair, lo, hi, 0x12345678U, false) == 0x1234FE38U);
    REQUIRE(run_one(lanes(isa).fp8_pair, lo, hi, 0x12345678U, true) == 0xFE385678U);
  }
}

}  // namespace monojit::emulator::numerics_test
