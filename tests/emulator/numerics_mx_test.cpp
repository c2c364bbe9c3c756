// v_cvt_scalef32_*: the scale, the packed FP4 forms, and the six-bit blocks.
#include <catch2/catch_test_macros.hpp>

#include "runtime/emulator/numerics/mx.h"
#include "tests/emulator/numerics_support.h"

namespace monojit::emulator::numerics_test {
namespace {

constexpr int kRandomOperands = 200000;

/// |value| of an E2M1 code.
constexpr double kE2M1[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

/// Halfway between two codes is a tie: it goes to the even one.
std::uint32_t nearest_e2m1(double x) {
  std::uint32_t best = 0;
  for (std::uint32_t code = 1; code < 8; ++code) {
    const double gain = std::fabs(std::fabs(x) - kE2M1[best]) - std::fabs(std::fabs(x) - kE2M1[code]);
    if (gain > 0 || (gain == 0 && code % 2 == 0)) best = code;
  }
  return best | (std::signbit(x) ? 8U : 0U);
}

/// The factor of a scale operand, as a double.
double factor_of(std::uint32_t scale) { return std::ldexp(1.0, static_cast<int>((scale >> 23) & 0xFFU) - 127); }

std::vector<std::uint32_t> random_patterns(Random& random, std::size_t count) {
  std::vector<std::uint32_t> patterns(count);
  for (std::uint32_t& pattern : patterns) pattern = random();
  return patterns;
}

}  // namespace

TEST_CASE("only the exponent bits of a scale count") {
  Random random;
  for (const HostIsa isa : host_isas())
    for (std::uint32_t code = 0; code < 256; ++code) {
      const std::uint32_t scale = code << 23 | (random() & 0x807FFFFFU);
      const std::uint32_t up = run_one(lanes(isa).scaled, as_bits(1.0F), scale);
      const std::uint32_t down = run_one(lanes(isa).unscaled, as_bits(1.0F), scale);
      if (code == 255) {
        REQUIRE((is_nan(up) && is_nan(down)));
        continue;
      }
      REQUIRE(static_cast<double>(as_float(up)) == factor_of(scale));
      REQUIRE(static_cast<double>(as_float(down)) == 1.0 / factor_of(scale));
    }
}

TEST_CASE("FP4 pairs are quotients by the scale, rounded once") {
  Random random;
  for (const HostIsa isa : host_isas()) {
    std::vector<std::uint32_t> lo, hi, scale;
    for (int i = 0; i < kRandomOperands; ++i) {
      scale.push_back((random() & 0x807FFFFFU) | (random() % 250) << 23);  // the products below stay finite
      // Quotients of 2^-3 .. 2^4 with few bits: ties are frequent.
      const double lo_quotient = static_cast<double>(random() % 128) / 16.0 * (random() % 2 == 0 ? 1 : -1);
      const double hi_quotient = static_cast<double>(random() % 4096) / 512.0;
      lo.push_back(as_bits(static_cast<float>(lo_quotient * factor_of(scale.back()))));
      hi.push_back(as_bits(static_cast<float>(hi_quotient * factor_of(scale.back()))));
    }
    const auto pairs = run(lanes(isa).fp4_pair, lo, hi, scale);
    Disagreements disagreements;
    for (std::size_t i = 0; i < lo.size(); ++i) {
      const double lo_quotient = static_cast<double>(as_float(lo[i])) / factor_of(scale[i]);
      const double hi_quotient = static_cast<double>(as_float(hi[i])) / factor_of(scale[i]);
      const std::uint32_t expected = nearest_e2m1(lo_quotient) | nearest_e2m1(hi_quotient) << 4;
      disagreements.note(pairs[i] == expected, lo[i], hi[i], pairs[i], expected);
    }
    REQUIRE_AGREEMENT(disagreements);
  }
}

TEST_CASE("values between 4 and 6 round, only those past 6 saturate") {
  constexpr std::uint32_t kUnitScale = 0x3F800000;
  for (const HostIsa isa : host_isas()) {
    const auto code = [&](float x) { return run_one(lanes(isa).fp4_pair, as_bits(x), 0, kUnitScale); };
    REQUIRE(code(4.5F) == 6);
    REQUIRE(code(5.0F) == 6);  // a tie
    REQUIRE(code(5.5F) == 7);
    REQUIRE(code(100.0F) == 7);
    REQUIRE(code(-1e30F) == 15);
    REQUIRE(code(as_float(0x7F800000)) == 7);
    REQUIRE(code(-0.2F) == 8);
  }
}

TEST_CASE("stochastic FP4 pairs step the seed between the two elements") {
  for (const HostIsa isa : host_isas()) {
    Random random;
    const auto values = random_patterns(random, 4096);
    const auto seeds = random_patterns(random, 4096);
    std::vector<std::uint32_t> x, scale;
    for (const std::uint32_t value : values) {
      x.push_back((value & 0x807FFFFFU) | (126U + value % 3) << 23);
      scale.push_back(0x3F800000);
    }
    const auto pairs = run(lanes(isa).fp4_pair_stochastic, x, seeds, scale);
    const auto next = run(lanes(isa).prng, seeds);
    const auto low = run(lanes(isa).stochastic_e2m1, x, seeds);
    const auto high = run(lanes(isa).stochastic_e2m1, x, next);
    for (std::size_t i = 0; i < x.size(); ++i) {
      REQUIRE(next[i] == (seeds[i] * 2 ^ (seeds[i] / 0x80000000U) * 0xC5));
      REQUIRE(pairs[i] == low[i] + 16 * high[i]);
    }
  }
}

TEST_CASE("six-bit codes of a block lie packed without gaps") {
  Random random;
  std::uint32_t codes[32], words[6], back[32];
  for (std::uint32_t& code : codes) code = random() % 64;
  numerics::pack_6bit(codes, words);
  for (int bit = 0; bit < 192; ++bit)
    REQUIRE(((words[bit / 32] >> (bit % 32)) & 1U) == ((codes[bit / 6] >> (bit % 6)) & 1U));
  numerics::unpack_6bit(words, back);
  for (int n = 0; n < 32; ++n) REQUIRE(back[n] == codes[n]);
}

TEST_CASE("a six-bit block widened and narrowed with the same scale is itself") {
  constexpr std::uint32_t kScale = 0x35000000;  // 2^-21
  Random random;
  std::uint32_t words[6], values[32], back[6];
  for (std::uint32_t& word : words) word = random();
  numerics::widen_6bit_block<numerics::kFormatE2M3>(words, kScale, values);
  numerics::scaled_6bit_block<numerics::kFormatE2M3>(values, kScale, back);
  for (int i = 0; i < 6; ++i) REQUIRE(back[i] == words[i]);
  REQUIRE(values[0] == numerics::widen_scaled<numerics::kFormatE2M3>(words[0], kScale));
}

}  // namespace monojit::emulator::numerics_test
