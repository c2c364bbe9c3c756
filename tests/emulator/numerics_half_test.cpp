// bf16 and f16: conversions against neighbours in double and the compiler's own _Float16; dot products step by step.
#include <numeric>

#include <catch2/catch_test_macros.hpp>

#include "tests/emulator/numerics_support.h"

namespace monojit::emulator::numerics_test {
namespace {

constexpr int kRandomOperands = 1000000;
__extension__ typedef _Float16 Half;  // NOLINT(modernize-use-using)

std::uint32_t half_bits(Half value) { return std::bit_cast<std::uint16_t>(value); }

std::vector<std::uint32_t> operands() {
  std::vector<std::uint32_t> patterns = f32_edges();
  Random random;
  for (int i = 0; i < kRandomOperands; ++i) patterns.push_back(random());
  for (int i = 0; i < kRandomOperands; ++i)  // about the range of f16, few low bits: ties are frequent
    patterns.push_back((random() & 0x807FF000U) | (100U + random() % 45) << 23);
  for (std::uint32_t pattern = 0; pattern < 65536; ++pattern)
    for (const std::uint32_t low : {0x0000U, 0x7FFFU, 0x8000U, 0x8001U}) patterns.push_back(pattern << 16 | low);
  return patterns;
}

/// The nearer of the two bf16 values around x; halfway, the even one.
std::uint32_t nearest_bf16(std::uint32_t x) {
  const std::uint32_t below = x & 0xFFFF0000U;
  const std::uint32_t above = below + 0x10000U;  // outwards
  const double value = as_float(x);
  // Past the largest bf16 the next value would be 2^128.
  const double outer = std::isinf(as_float(above)) ? std::copysign(std::ldexp(1.0, 128), value) : as_float(above);
  const double to_below = std::fabs(value - static_cast<double>(as_float(below)));
  const double to_above = std::fabs(outer - value);
  const bool take_below = to_below < to_above || (to_below == to_above && (below & 0x10000U) == 0);
  return (take_below ? below : above) >> 16;
}

double flushed(double value) { return std::fabs(value) < std::ldexp(1.0, -126) ? std::copysign(0.0, value) : value; }
float step(double exact) { return static_cast<float>(flushed(static_cast<double>(static_cast<float>(exact)))); }

}  // namespace

TEST_CASE("f32 rounds to the nearest bf16") {
  for (const HostIsa isa : host_isas()) {
    const auto patterns = operands();
    const auto results = run(lanes(isa).encode_bf16, patterns);
    Disagreements disagreements;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (is_nan(patterns[i])) {
        // Quiet, with sign and the top payload bits.
        const std::uint32_t expected = (patterns[i] >> 16) | 0x40U;
        disagreements.note(results[i] == expected, patterns[i], 0, results[i], expected);
      } else if (!std::isinf(as_float(patterns[i]))) {
        const std::uint32_t expected = nearest_bf16(patterns[i]);
        disagreements.note(results[i] == expected, patterns[i], 0, results[i], expected);
      }
    }
    REQUIRE_AGREEMENT(disagreements);
    REQUIRE(run_one(lanes(isa).encode_bf16, 0xFF800000U) == 0xFF80);
  }
}

TEST_CASE("every bf16 and f16 pattern decodes exactly") {
  for (const HostIsa isa : host_isas()) {
    std::vector<std::uint32_t> patterns(65536);
    std::iota(patterns.begin(), patterns.end(), 0U);
    const auto bf16 = run(lanes(isa).decode_bf16, patterns);
    const auto f16 = run(lanes(isa).decode_f16, patterns);
    Disagreements disagreements;
    for (std::uint32_t pattern = 0; pattern < 65536; ++pattern) {
      REQUIRE(bf16[pattern] == pattern * 65536U);
      const auto value = static_cast<float>(std::bit_cast<Half>(static_cast<std::uint16_t>(pattern)));
      disagreements.note(same(f16[pattern], as_bits(value)), pattern, 0, f16[pattern], as_bits(value));
    }
    REQUIRE_AGREEMENT(disagreements);
  }
}

TEST_CASE("f32 rounds to the nearest f16, and towards zero in the packed form") {
  for (const HostIsa isa : host_isas()) {
    const auto patterns = operands();
    const auto nearest = run(lanes(isa).encode_f16, patterns);
    const auto limited = run(lanes(isa).encode_f16, patterns, {}, {}, true);
    const auto cut = run(lanes(isa).encode_f16_towards_zero, patterns);
    Disagreements by_nearest, by_limit, by_cut;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const float value = as_float(patterns[i]);
      const auto half = static_cast<Half>(value);
      if (std::isnan(value)) {
        for (const std::uint32_t result : {nearest[i], limited[i], cut[i]})
          by_nearest.note((result & 0x7FFFU) > 0x7E00U - 1, patterns[i], 0, result, 0x7E00);
        continue;
      }
      by_nearest.note(nearest[i] == half_bits(half), patterns[i], 0, nearest[i], half_bits(half));
      const bool overflow = std::isinf(static_cast<float>(half)) && !std::isinf(value);
      const std::uint32_t limit = overflow ? half_bits(half) - 1 : half_bits(half);
      by_limit.note(limited[i] == limit, patterns[i], 0, limited[i], limit);
      const bool outwards = std::fabs(static_cast<float>(half)) > std::fabs(value);
      const std::uint32_t inner = outwards ? half_bits(half) - 1 : half_bits(half);
      by_cut.note(cut[i] == inner, patterns[i], 0, cut[i], inner);
    }
    REQUIRE_AGREEMENT(by_nearest);
    REQUIRE_AGREEMENT(by_limit);
    REQUIRE_AGREEMENT(by_cut);
  }
}

TEST_CASE("dot2 rounds after each step and flushes denormals") {
  Random random;
  std::vector<std::uint32_t> x, y, z;
  const auto half = [&](std::uint32_t low, std::uint32_t span) {
    return (random() & 0x807FU) | (low + random() % span) << 7;
  };
  for (int i = 0; i < kRandomOperands / 4; ++i) {
    // Exponents in the middle, and so low that products and sums become denormal.
    const std::uint32_t low = i % 2 == 0 ? 120 : 60;
    x.push_back(half(low, 8) | half(low, 8) << 16);
    y.push_back(half(low, 8) | half(low, 8) << 16);
    z.push_back((random() & 0x807FFFFFU) | (i % 2 == 0 ? 120U + random() % 12 : random() % 8) << 23);
  }
  for (const HostIsa isa : host_isas()) {
    const auto dot2 = run(lanes(isa).dot2_bf16, x, y, z);
    const auto dot2c = run(lanes(isa).dot2c_bf16, x, y, z);
    Disagreements disagreements;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto value = [](std::uint32_t bits) { return flushed(static_cast<double>(as_float(bits))); };
      const double low = step(value(x[i] << 16) * value(y[i] << 16));
      const double high = step(value(x[i] & 0xFFFF0000U) * value(y[i] & 0xFFFF0000U));
      const double addend = value(z[i]);
      const std::uint32_t expected = as_bits(step(static_cast<double>(step(low + high)) + addend));
      const std::uint32_t expected_c = as_bits(step(static_cast<double>(step(addend + low)) + high));
      disagreements.note(dot2[i] == expected, x[i], y[i], dot2[i], expected);
      disagreements.note(dot2c[i] == expected_c, x[i], y[i], dot2c[i], expected_c);
    }
    REQUIRE_AGREEMENT(disagreements);
    // 2 * 3 + 0.5 * 4 + 1 in f16.
    REQUIRE(run_one(lanes(isa).dot2_f16, 0x38004000U, 0x44004200U, as_bits(1.0F)) == as_bits(9.0F));
  }
}

}  // namespace monojit::emulator::numerics_test
