// Minimum, maximum, median, rounding, integer conversions, frexp and ldexp, each against a definition by cases.
#include <cmath>
#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "tests/emulator/numerics_support.h"

namespace monojit::emulator::numerics_test {
namespace {

constexpr int kRandomOperands = 300000;
constexpr std::uint32_t kQuiet = 0x00400000;

struct Triples {
  std::vector<std::uint32_t> x, y, z;

  void add(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    x.push_back(a);
    y.push_back(b);
    z.push_back(c);
  }
};

/// Zeros of both signs, both kinds of NaN, Inf and ordinary numbers in every combination, then random patterns.
Triples triples() {
  const std::uint32_t values[] = {
      0,          0x80000000, 1,          0x80000001, as_bits(1.0F), as_bits(-1.0F), as_bits(2.0F),
      0x7F800000, 0xFF800000, 0x7FC00001, 0xFFC00002, 0x7F800003,    0xFF800004};
  Triples all;
  for (const std::uint32_t a : values)
    for (const std::uint32_t b : values)
      for (const std::uint32_t c : values) all.add(a, b, c);
  Random random;
  for (int i = 0; i < kRandomOperands; ++i) all.add(random(), random(), random());
  return all;
}

bool is_signaling(std::uint32_t bits) { return is_nan(bits) && (bits & kQuiet) == 0; }

/// -0 is less than +0.
bool less(std::uint32_t a, std::uint32_t b) {
  const float x = as_float(a), y = as_float(b);
  return x < y || (x == y && std::signbit(x) && !std::signbit(y));
}

/// AMD's v_min / v_max, case by case as written in the instruction set reference.
std::uint32_t extreme(std::uint32_t a, std::uint32_t b, bool want_larger, bool ieee) {
  if (ieee && is_signaling(a)) return a | kQuiet;
  if (ieee && is_signaling(b)) return b | kQuiet;
  if (is_nan(a)) return b;
  if (is_nan(b)) return a;
  return less(a, b) == want_larger ? b : a;
}

/// IEEE 754-2019 minimum / maximum: any NaN wins.
bool agrees_with_nan_extreme(std::uint32_t result, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                             bool want_larger) {
  if (is_nan(a) || is_nan(b) || is_nan(c)) return is_nan(result) && !is_signaling(result);
  return result == extreme(extreme(a, b, want_larger, true), c, want_larger, true);
}

std::uint32_t median(std::uint32_t a, std::uint32_t b, std::uint32_t c, bool ieee) {
  if (is_nan(a) || is_nan(b) || is_nan(c)) return extreme(extreme(a, b, false, ieee), c, false, ieee);
  const std::uint32_t largest = extreme(extreme(a, b, true, ieee), c, true, ieee);
  if (largest == a) return extreme(b, c, true, ieee);
  if (largest == b) return extreme(a, c, true, ieee);
  return extreme(a, b, true, ieee);
}

std::vector<std::uint32_t> any_operands() {
  std::vector<std::uint32_t> operands = f32_edges();
  Random random;
  for (int i = 0; i < kRandomOperands; ++i) operands.push_back(random());
  for (int i = 0; i < kRandomOperands; ++i)  // where fractions and integer limits are
    operands.push_back((random() & 0x807FFFFFU) | (120U + random() % 42) << 23);
  for (int i = -64; i <= 64; ++i) operands.push_back(as_bits(static_cast<float>(i) / 4));
  return operands;
}

template <class Expected>
void require_f32(LaneOperation LaneTable::* operation, const std::vector<std::uint32_t>& operands, Expected expected) {
  for (const HostIsa isa : host_isas()) {
    const auto results = run(lanes(isa).*operation, operands);
    Disagreements disagreements;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::uint32_t wanted = expected(operands[i]);
      disagreements.note(same(results[i], wanted), operands[i], 0, results[i], wanted);
    }
    REQUIRE_AGREEMENT(disagreements);
  }
}

template <class Integer>
std::uint32_t saturated(double value) {
  if (std::isnan(value)) return 0;
  const double low = std::numeric_limits<Integer>::min(), high = std::numeric_limits<Integer>::max();
  return static_cast<std::uint32_t>(static_cast<Integer>(std::min(std::max(value, low), high)));
}

}  // namespace

TEST_CASE("min, max, their three-operand forms and med3 follow AMD's NaN rules") {
  const Triples t = triples();
  for (const HostIsa isa : host_isas())
    for (const bool ieee : {false, true}) {
      const LaneTable& table = lanes(isa);
      const auto min = run(table.min, t.x, t.y, t.z, ieee), max = run(table.max, t.x, t.y, t.z, ieee);
      const auto min3 = run(table.min3, t.x, t.y, t.z, ieee), max3 = run(table.max3, t.x, t.y, t.z, ieee);
      const auto med3 = run(table.med3, t.x, t.y, t.z, ieee);
      Disagreements disagreements;
      for (std::size_t i = 0; i < t.x.size(); ++i) {
        const std::uint32_t x = t.x[i], y = t.y[i], z = t.z[i];
        const std::uint32_t low = extreme(x, y, false, ieee), high = extreme(x, y, true, ieee);
        disagreements.note(min[i] == low, x, y, min[i], low);
        disagreements.note(max[i] == high, x, y, max[i], high);
        disagreements.note(min3[i] == extreme(low, z, false, ieee), x, z, min3[i], extreme(low, z, false, ieee));
        disagreements.note(max3[i] == extreme(high, z, true, ieee), x, z, max3[i], extreme(high, z, true, ieee));
        disagreements.note(med3[i] == median(x, y, z, ieee), x, y, med3[i], median(x, y, z, ieee));
      }
      REQUIRE_AGREEMENT(disagreements);
    }
}

TEST_CASE("minimum3 and maximum3 let any NaN win") {
  const Triples t = triples();
  for (const HostIsa isa : host_isas()) {
    const auto low = run(lanes(isa).minimum3, t.x, t.y, t.z), high = run(lanes(isa).maximum3, t.x, t.y, t.z);
    Disagreements disagreements;
    for (std::size_t i = 0; i < t.x.size(); ++i) {
      disagreements.note(agrees_with_nan_extreme(low[i], t.x[i], t.y[i], t.z[i], false), t.x[i], t.y[i], low[i],
                         t.z[i]);
      disagreements.note(agrees_with_nan_extreme(high[i], t.x[i], t.y[i], t.z[i], true), t.x[i], t.y[i], high[i],
                         t.z[i]);
    }
    REQUIRE_AGREEMENT(disagreements);
  }
}

TEST_CASE("rounding to integral values follows the C library") {
  const auto operands = any_operands();
  require_f32(&LaneTable::rndne, operands, [](std::uint32_t x) { return as_bits(std::nearbyint(as_float(x))); });
  require_f32(&LaneTable::floor, operands, [](std::uint32_t x) { return as_bits(std::floor(as_float(x))); });
  require_f32(&LaneTable::ceil, operands, [](std::uint32_t x) { return as_bits(std::ceil(as_float(x))); });
  require_f32(&LaneTable::trunc, operands, [](std::uint32_t x) { return as_bits(std::trunc(as_float(x))); });
}

TEST_CASE("fract stays below one") {
  require_f32(&LaneTable::fract, any_operands(), [](std::uint32_t x) {
    const double value = as_float(x);
    const auto rounded = static_cast<float>(value - std::floor(value));
    return std::isinf(value) ? 0x7FC00000U : as_bits(rounded >= 1.0F ? std::nextafter(1.0F, 0.0F) : rounded);
  });
}

TEST_CASE("f32 to integer cuts, floors or rounds and saturates") {
  const auto operands = any_operands();
  const auto wide = [](std::uint32_t x) { return static_cast<double>(as_float(x)); };
  for (const HostIsa isa : host_isas()) {
    const LaneTable& table = lanes(isa);
    const auto i32 = run(table.to_i32, operands), u32 = run(table.to_u32, operands);
    const auto floor = run(table.floor_to_i32, operands), nearest = run(table.nearest_to_i32, operands);
    Disagreements disagreements;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::uint32_t x = operands[i];
      const std::uint32_t expected[] = {
          saturated<std::int32_t>(std::trunc(wide(x))), saturated<std::uint32_t>(std::trunc(wide(x))),
          saturated<std::int32_t>(std::floor(wide(x))), saturated<std::int32_t>(std::floor(wide(x) + 0.5))};
      const std::uint32_t got[] = {i32[i], u32[i], floor[i], nearest[i]};
      for (int form = 0; form < 4; ++form)
        disagreements.note(got[form] == expected[form], x, static_cast<std::uint64_t>(form), got[form], expected[form]);
    }
    REQUIRE_AGREEMENT(disagreements);
  }
}

TEST_CASE("integers convert to the nearest f32") {
  require_f32(&LaneTable::from_i32, any_operands(), [](std::uint32_t x) {
    return as_bits(static_cast<float>(static_cast<long double>(static_cast<std::int32_t>(x))));
  });
  require_f32(&LaneTable::from_u32, any_operands(),
              [](std::uint32_t x) { return as_bits(static_cast<float>(static_cast<long double>(x))); });
}

TEST_CASE("frexp and ldexp take apart and put together, denormals kept") {
  const auto operands = any_operands();
  require_f32(&LaneTable::frexp_exponent, operands, [](std::uint32_t x) {
    int exponent = 0;
    if (std::isfinite(as_float(x))) std::frexp(as_float(x), &exponent);
    return static_cast<std::uint32_t>(exponent);
  });
  require_f32(&LaneTable::frexp_mantissa, operands, [](std::uint32_t x) {
    int exponent = 0;
    return as_bits(std::frexp(as_float(x), &exponent));
  });
  Random random;
  std::vector<std::uint32_t> exponents(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i)
    exponents[i] = i % 64 == 0 ? random() : static_cast<std::uint32_t>(static_cast<int>(random() % 600) - 300);
  for (const HostIsa isa : host_isas()) {
    const auto results = run(lanes(isa).ldexp, operands, exponents);
    Disagreements disagreements;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::uint32_t expected = as_bits(std::ldexp(as_float(operands[i]), static_cast<int>(exponents[i])));
      disagreements.note(same(results[i], expected), operands[i], exponents[i], results[i], expected);
    }
    REQUIRE_AGREEMENT(disagreements);
  }
}

TEST_CASE("f64 forms agree with the C library") {
  std::vector<std::uint64_t> operands = f64_edges(), exponents;
  Random random;
  for (int i = 0; i < kRandomOperands; ++i) operands.push_back(static_cast<std::uint64_t>(random()) << 32 | random());
  for (int i = 0; i < kRandomOperands; ++i)
    operands.push_back((static_cast<std::uint64_t>(random() & 0x800FFFFFU) << 32 | random()) | (1000ULL + random() % 64)
                                                                                                   << 52);
  for (std::size_t i = 0; i < operands.size(); ++i)
    exponents.push_back(static_cast<std::uint64_t>(static_cast<int>(random() % 4400) - 2200));
  for (const HostIsa isa : host_isas()) {
    const LaneTable& table = lanes(isa);
    const auto ldexp = run(table.ldexp_f64, operands, exponents), rndne = run(table.rndne_f64, operands);
    const auto i32 = run(table.f64_to_i32, operands), u32 = run(table.f64_to_u32, operands);
    const auto exponent = run(table.frexp_exponent_f64, operands), mantissa = run(table.frexp_mantissa_f64, operands);
    Disagreements disagreements;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const double x = as_double(operands[i]);
      int e = 0;
      const std::uint64_t m = as_bits(std::frexp(x, &e));
      if (!std::isfinite(x)) e = 0;
      const std::uint64_t scaled = as_bits(std::ldexp(x, static_cast<int>(exponents[i])));
      disagreements.note(same(ldexp[i], scaled), operands[i], exponents[i], ldexp[i], scaled);
      disagreements.note(same(rndne[i], as_bits(std::nearbyint(x))), operands[i], 1, rndne[i],
                         as_bits(std::nearbyint(x)));
      disagreements.note(static_cast<std::uint32_t>(i32[i]) == saturated<std::int32_t>(std::trunc(x)), operands[i], 2,
                         i32[i], 0);
      disagreements.note(u32[i] == saturated<std::uint32_t>(std::trunc(x)), operands[i], 3, u32[i], 0);
      disagreements.note(static_cast<int>(exponent[i]) == e, operands[i], 4, exponent[i],
                         static_cast<std::uint64_t>(e));
      disagreements.note(same(mantissa[i], m), operands[i], 5, mantissa[i], m);
    }
    REQUIRE_AGREEMENT(disagreements);
  }
}

}  // namespace monojit::emulator::numerics_test
