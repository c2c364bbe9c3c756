// Whole divisions through the compiler's sequence of v_div_* instructions against IEEE quotients.
#include <catch2/catch_test_macros.hpp>

#include "tests/emulator/numerics_support.h"

namespace monojit::emulator::numerics_test {
namespace {

constexpr int kRandomPairs = 2000000;
constexpr int kRandomWidePairs = 1000000;

void require_f32_quotients(const std::vector<std::uint32_t>& numerators,
                           const std::vector<std::uint32_t>& denominators) {
  for (const HostIsa isa : host_isas()) {
    const auto quotients = run(lanes(isa).divide, numerators, denominators);
    Disagreements disagreements;
    for (std::size_t i = 0; i < quotients.size(); ++i) {
      const std::uint32_t expected = as_bits(as_float(numerators[i]) / as_float(denominators[i]));
      disagreements.note(same(quotients[i], expected), numerators[i], denominators[i], quotients[i], expected);
    }
    REQUIRE_AGREEMENT(disagreements);
  }
}

void require_f64_quotients(const std::vector<std::uint64_t>& numerators,
                           const std::vector<std::uint64_t>& denominators) {
  for (const HostIsa isa : host_isas()) {
    const auto quotients = run(lanes(isa).divide_f64, numerators, denominators);
    Disagreements disagreements;
    for (std::size_t i = 0; i < quotients.size(); ++i) {
      const std::uint64_t expected = as_bits(as_double(numerators[i]) / as_double(denominators[i]));
      disagreements.note(same(quotients[i], expected), numerators[i], denominators[i], quotients[i], expected);
    }
    REQUIRE_AGREEMENT(disagreements);
  }
}

/// All pairs of edge values.
template <class Bits>
void pair_up(const std::vector<Bits>& edges, std::vector<Bits>& first, std::vector<Bits>& second) {
  for (std::size_t i = 0; i < edges.size(); ++i)
    for (std::size_t j = i % 3; j < edges.size(); j += 3) {
      first.push_back(edges[i]);
      second.push_back(edges[j]);
    }
}

}  // namespace

TEST_CASE("f32 division of edge values is correctly rounded") {
  std::vector<std::uint32_t> numerators, denominators;
  pair_up(f32_edges(), numerators, denominators);
  require_f32_quotients(numerators, denominators);
}

TEST_CASE("f32 division of random patterns is correctly rounded") {
  std::vector<std::uint32_t> numerators, denominators;
  Random random;
  for (int i = 0; i < kRandomPairs; ++i) {
    numerators.push_back(random());
    denominators.push_back(random());
  }
  require_f32_quotients(numerators, denominators);
}

TEST_CASE("f32 division is correctly rounded where operands or quotients are denormal or huge") {
  std::vector<std::uint32_t> numerators, denominators;
  Random random;
  const auto pattern = [&](std::uint32_t low_exponent, std::uint32_t count) {
    return (random() & 0x807FFFFFU) | (low_exponent + random() % count) << 23;
  };
  for (int i = 0; i < kRandomPairs; ++i) {
    switch (i % 5) {
      case 0:
        numerators.push_back(pattern(0, 1)), denominators.push_back(pattern(0, 255));
        break;
      case 1:
        numerators.push_back(pattern(0, 255)), denominators.push_back(pattern(0, 1));
        break;
      case 2:
        numerators.push_back(pattern(0, 60)), denominators.push_back(pattern(120, 40));
        break;  // denormal quotients
      case 3:
        numerators.push_back(pattern(200, 55)), denominators.push_back(pattern(60, 40));
        break;  // about overflow
      default:
        numerators.push_back(pattern(0, 255)), denominators.push_back(pattern(250, 5));
        break;  // denormal inverses
    }
  }
  require_f32_quotients(numerators, denominators);
}

TEST_CASE("f32 quotients that tie between denormals are rounded once") {
  std::vector<std::uint32_t> numerators, denominators;
  Random random;
  for (int i = 0; i < kRandomPairs / 4; ++i) {
    const int shift = 1 + static_cast<int>(random() % 23);
    const auto significand = static_cast<float>((random() & ((1U << (24 - shift)) - 1)) * 2 + 1);
    denominators.push_back(as_bits(std::ldexp(1.0F, static_cast<int>(random() % 60))));
    numerators.push_back(as_bits(std::ldexp(significand, -150) * as_float(denominators.back())));
  }
  require_f32_quotients(numerators, denominators);
}

TEST_CASE("f64 division is correctly rounded") {
  std::vector<std::uint64_t> numerators, denominators;
  pair_up(f64_edges(), numerators, denominators);
  Random random;
  const auto pattern = [&](std::uint64_t low_exponent, std::uint64_t count) {
    const std::uint64_t bits = static_cast<std::uint64_t>(random()) << 32 | random();
    return (bits & 0x800FFFFFFFFFFFFFU) | (low_exponent + random() % count) << 52;
  };
  for (int i = 0; i < kRandomWidePairs; ++i) {
    switch (i % 5) {
      case 0:
        numerators.push_back(pattern(0, 2047)), denominators.push_back(pattern(0, 2047));
        break;
      case 1:
        numerators.push_back(pattern(0, 1)), denominators.push_back(pattern(0, 2047));
        break;
      case 2:
        numerators.push_back(pattern(0, 2047)), denominators.push_back(pattern(0, 1));
        break;
      case 3:
        numerators.push_back(pattern(0, 120)), denominators.push_back(pattern(1000, 140));
        break;
      default:
        numerators.push_back(pattern(1900, 147)), denominators.push_back(pattern(800, 300));
        break;
    }
  }
  require_f64_quotients(numerators, denominators);
}

TEST_CASE("div_scale reports in VCC what div_fmas has to undo") {
  for (const HostIsa isa : host_isas()) {
    const LaneTable& table = lanes(isa);
    const std::uint32_t one = as_bits(1.0F), huge = as_bits(0x1p127F), tiny = as_bits(0x1p-126F), three = as_bits(3.0F);
    REQUIRE(run_one(table.div_scale, three, three, one) == three);
    REQUIRE(run_one(table.div_scale_vcc, three, three, one) == 0);
    // The quotient would overflow on its way: the denominator is scaled up.
    REQUIRE(run_one(table.div_scale, tiny, tiny, huge) == as_bits(0x1p-62F));
    REQUIRE(run_one(table.div_scale_vcc, tiny, tiny, huge) == 1);
    // The quotient is denormal: the numerator is scaled up.
    REQUIRE(run_one(table.div_scale, tiny, three, tiny) == as_bits(0x1p-62F));
    REQUIRE(run_one(table.div_scale_vcc, tiny, three, tiny) == 1);
    REQUIRE(is_nan(run_one(table.div_scale, one, 0, one)));
    // A third operand of at least 2 is scaled up by 2^64, else down.
    REQUIRE(run_one(table.div_fmas, one, one, three, true) == as_bits(0x1p66F));
    REQUIRE(run_one(table.div_fmas, 0, one, one, true) == as_bits(0x1p-64F));
    REQUIRE(run_one(table.div_fmas, one, one, three, false) == as_bits(4.0F));
  }
}

}  // namespace monojit::emulator::numerics_test
