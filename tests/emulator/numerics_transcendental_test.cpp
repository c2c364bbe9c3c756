// rcp, sqrt and rsq are correctly rounded; exp2, log2, sin and cos within 1 ulp of long double, with the documented
// special values; both host instruction sets give the same bits.
#include <cmath>
#include <numbers>
#include <numeric>

#include <catch2/catch_test_macros.hpp>

#include "tests/emulator/numerics_support.h"

namespace monojit::emulator::numerics_test {
namespace {

constexpr int kRandomOperands = 500000;
__extension__ typedef unsigned __int128 Wide;  // NOLINT(modernize-use-using)
constexpr std::uint32_t kInvalid = 0xFFC00000;
constexpr std::uint32_t kInfinity = 0x7F800000;
constexpr std::uint32_t kSign = 0x80000000;
constexpr std::uint32_t kOne = 0x3F800000;

std::uint32_t flushed(std::uint32_t bits) { return (bits & 0x7F800000U) == 0 ? bits & kSign : bits; }

std::vector<std::uint32_t> any_operands() {
  std::vector<std::uint32_t> operands = f32_edges();
  Random random;
  for (int i = 0; i < kRandomOperands; ++i) operands.push_back(random());
  return operands;
}

/// Operands with exponents of 2^low .. 2^(low + count - 1) and either sign.
std::vector<std::uint32_t> operands_about(int low, std::uint32_t count) {
  std::vector<std::uint32_t> operands(kRandomOperands);
  Random random;
  for (std::uint32_t& operand : operands)
    operand = (random() & 0x807FFFFFU) | (static_cast<std::uint32_t>(low + 127) + random() % count) << 23;
  return operands;
}

/// Error in units of the result's last place (of the smallest normal below that), NaN and Inf by equality.
long double ulps(std::uint32_t result, long double exact) {
  const float value = as_float(result);
  const auto nearest = static_cast<float>(exact);
  if (std::isnan(value) || std::isnan(nearest)) return std::isnan(value) && std::isnan(nearest) ? 0 : HUGE_VALL;
  if (std::isinf(value) || std::isinf(nearest)) return value == nearest ? 0 : HUGE_VALL;
  const long double size = std::max(std::fabs(exact), std::ldexp(1.0L, -126));
  const long double unit = std::ldexp(1.0L, std::ilogb(size) - 23);
  // A denormal result is flushed to zero.
  if (value == 0 && std::fabs(exact) < std::ldexp(1.0L, -126)) return 0;
  return std::fabs(static_cast<long double>(value) - exact) / unit;
}

template <class Exact>
void require_within_an_ulp(LaneOperation LaneTable::* operation, const std::vector<std::uint32_t>& operands,
                           Exact exact) {
  for (const HostIsa isa : host_isas()) {
    const auto results = run(lanes(isa).*operation, operands);
    Disagreements disagreements;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const long double wanted = exact(static_cast<long double>(as_float(flushed(operands[i]))));
      disagreements.note(ulps(results[i], wanted) <= 1, operands[i], 0, results[i],
                         as_bits(static_cast<float>(wanted)));
    }
    REQUIRE_AGREEMENT(disagreements);
  }
}

}  // namespace

TEST_CASE("rcp and sqrt are correctly rounded, denormals flushed on both sides") {
  for (const HostIsa isa : host_isas()) {
    const auto operands = any_operands();
    const auto rcp = run(lanes(isa).rcp, operands);
    const auto sqrt = run(lanes(isa).sqrt, operands);
    Disagreements by_rcp, by_sqrt;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const float in = as_float(flushed(operands[i]));
      const std::uint32_t inverse = flushed(as_bits(1.0F / in));
      const std::uint32_t root = as_bits(std::sqrt(in));
      by_rcp.note(same(rcp[i], inverse), operands[i], 0, rcp[i], inverse);
      by_sqrt.note(same(sqrt[i], root), operands[i], 0, sqrt[i], root);
    }
    REQUIRE_AGREEMENT(by_rcp);
    REQUIRE_AGREEMENT(by_sqrt);
  }
}

TEST_CASE("rsq is correctly rounded for every significand") {
  // The result r (24 bits) is right if no midpoint lies between it and 1/sqrt(x): (2r-1)^2 x <= 4 <= (2r+1)^2 x in
  // integers.
  const HostIsa isa = best_host_isa();
  std::vector<std::uint32_t> operands(2U << 23);
  std::iota(operands.begin(), operands.end(), kOne);
  const auto results = run(lanes(isa).rsq, operands);
  Disagreements disagreements;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool even = operands[i] < kOne + (1U << 23);  // 1 <= x < 2, else 2 <= x < 4
    const auto x = static_cast<std::uint64_t>((operands[i] & 0x7FFFFFU) | 0x800000U) * (even ? 1 : 2);  // times 2^-23
    const std::uint64_t r = (results[i] & 0x7FFFFFU) | 0x800000U;
    const int unit = static_cast<int>(results[i] >> 23) - 150;  // r * 2^unit

    const auto compare = [&](std::uint64_t twice) {
      const Wide square = static_cast<Wide>(twice) * twice * x;
      const Wide bound = static_cast<Wide>(1) << (25 - 2 * unit);
      return square < bound ? -1 : (square > bound ? 1 : 0);
    };
    disagreements.note(compare(2 * r - 1) <= 0 && compare(2 * r + 1) >= 0, operands[i], 0, results[i], 0);
  }
  REQUIRE_AGREEMENT(disagreements);
}

TEST_CASE("exp2, log2, sin and cos are within 1 ulp") {
  require_within_an_ulp(&LaneTable::exp2, operands_about(-30, 38), [](long double x) { return std::exp2(x); });
  require_within_an_ulp(&LaneTable::log2, operands_about(-126, 254), [](long double x) {
    return x < 0 ? std::numeric_limits<long double>::quiet_NaN() : std::log2(x);
  });
  require_within_an_ulp(&LaneTable::log2, operands_about(-1, 2), [](long double x) {
    return x < 0 ? std::numeric_limits<long double>::quiet_NaN() : std::log2(x);
  });
  // Whole turns are taken off before scaling: the remainder is exact.
  require_within_an_ulp(&LaneTable::sin, operands_about(-40, 48), [](long double x) {
    return std::sin(2 * std::numbers::pi_v<long double> * std::remainder(x, 1.0L));
  });
  require_within_an_ulp(&LaneTable::cos, operands_about(-40, 48), [](long double x) {
    return std::sin(2 * std::numbers::pi_v<long double> *
                    std::remainder(std::fabs(std::remainder(x, 1.0L)) + 0.25L, 1.0L));
  });
}

TEST_CASE("transcendentals have the documented special values") {
  for (const HostIsa isa : host_isas()) {
    const LaneTable& table = lanes(isa);
    REQUIRE(run_one(table.exp2, kSign) == kOne);
    REQUIRE(run_one(table.exp2, kSign | kInfinity) == 0);
    REQUIRE(run_one(table.exp2, kInfinity) == kInfinity);
    REQUIRE(run_one(table.exp2, as_bits(128.0F)) == kInfinity);
    REQUIRE(run_one(table.exp2, as_bits(-126.5F)) == 0);
    for (int n = -126; n < 128; ++n)
      REQUIRE(run_one(table.exp2, as_bits(static_cast<float>(n))) == as_bits(std::ldexp(1.0F, n)));
    for (const std::uint32_t zero : {0U, kSign, 0x007FFFFFU, 0x807FFFFFU}) {
      REQUIRE(run_one(table.log2, zero) == (kSign | kInfinity));
      REQUIRE(run_one(table.rcp, zero) == ((zero & kSign) | kInfinity));
      REQUIRE(run_one(table.rsq, zero) == ((zero & kSign) | kInfinity));
      REQUIRE(run_one(table.sqrt, zero) == (zero & kSign));
    }
    REQUIRE(run_one(table.log2, as_bits(-1.0F)) == kInvalid);
    REQUIRE(run_one(table.log2, kInfinity) == kInfinity);
    for (int n = -126; n < 128; ++n)
      REQUIRE(run_one(table.log2, as_bits(std::ldexp(1.0F, n))) == as_bits(static_cast<float>(n)));
    REQUIRE(run_one(table.rsq, as_bits(4.0F)) == as_bits(0.5F));
    REQUIRE(run_one(table.rsq, as_bits(-4.0F)) == kInvalid);
    REQUIRE(run_one(table.rsq, kInfinity) == 0);
    REQUIRE(run_one(table.sqrt, kSign | kInfinity) == kInvalid);
    REQUIRE(run_one(table.rcp, 0x7F000001U) == 0);  // just past 2^127: a denormal result
    REQUIRE(run_one(table.sin, as_bits(0.25F)) == kOne);
    REQUIRE(run_one(table.cos, as_bits(0.25F)) == 0);
    REQUIRE(run_one(table.cos, 0) == kOne);
    REQUIRE(run_one(table.sin, as_bits(300.0F)) == 0);
    REQUIRE(run_one(table.cos, as_bits(300.0F)) == kOne);
    REQUIRE(is_nan(run_one(table.sin, kInfinity)));
    for (const auto operation : {table.exp2, table.log2, table.rcp, table.rsq, table.sqrt, table.sin, table.cos})
      REQUIRE(run_one(operation, 0x7F800123U) == 0x7FC00123U);
    REQUIRE(run_one(table.mul_legacy, 0, kInfinity) == 0);
    REQUIRE(run_one(table.mul_legacy, as_bits(3.0F), as_bits(-2.0F)) == as_bits(-6.0F));
  }
}

TEST_CASE("f64 rcp and sqrt are correctly rounded, rsq is within 1 ulp") {
  std::vector<std::uint64_t> operands = f64_edges();
  Random random;
  for (int i = 0; i < kRandomOperands; ++i) operands.push_back(static_cast<std::uint64_t>(random()) << 32 | random());
  for (const HostIsa isa : host_isas()) {
    const auto rcp = run(lanes(isa).rcp_f64, operands);
    const auto rsq = run(lanes(isa).rsq_f64, operands);
    const auto sqrt = run(lanes(isa).sqrt_f64, operands);
    Disagreements disagreements;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const double x = as_double(operands[i]);
      disagreements.note(same(rcp[i], as_bits(1.0 / x)), operands[i], 1, rcp[i], as_bits(1.0 / x));
      disagreements.note(same(sqrt[i], as_bits(std::sqrt(x))), operands[i], 2, sqrt[i], as_bits(std::sqrt(x)));
      const std::uint64_t inverse_root = as_bits(static_cast<double>(1.0L / std::sqrt(static_cast<long double>(x))));
      const bool near = rsq[i] - inverse_root + 1 <= 2;
      disagreements.note(near || same(rsq[i], inverse_root), operands[i], 3, rsq[i], inverse_root);
    }
    REQUIRE_AGREEMENT(disagreements);
  }
}

TEST_CASE("both host instruction sets give the same bits") {
  if (host_isas().size() < 2) SKIP("this host has one instruction set only");
  const auto operands = any_operands();
  for (const auto operation : {&LaneTable::exp2, &LaneTable::log2, &LaneTable::sin, &LaneTable::cos, &LaneTable::rsq,
                               &LaneTable::rcp, &LaneTable::sqrt, &LaneTable::fract, &LaneTable::encode_f16})
    REQUIRE(run(lanes(HostIsa::kX86V3).*operation, operands) == run(lanes(HostIsa::kX86V4).*operation, operands));
}

}  // namespace monojit::emulator::numerics_test
