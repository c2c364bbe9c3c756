#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/fp8.h"
#include "kernels/common/reference/random.h"
#include "tools/emulate/dtype.h"

namespace monojit::tools {
namespace {

constexpr std::uint64_t kSeed = 20240;
constexpr int kSamples = 20000;

const Dtype& named(const char* name) { return dtype(name, "test"); }

double value(const Dtype& dtype, std::uint64_t bits) {
  std::byte memory[8];
  std::memcpy(memory, &bits, sizeof bits);
  return dtype.value(memory);
}

std::uint64_t bits(const Dtype& dtype, double value) {
  std::byte memory[8]{};
  dtype.store(value, memory);
  std::uint64_t stored = 0;
  std::memcpy(&stored, memory, sizeof stored);
  return stored;
}

/// Numbers of every size that the small formats have, and beyond.
double sample(kernels::reference::Random& random) {
  const int exponent = static_cast<int>(random.below(60)) - 40;
  return std::ldexp(random.uniform() * 2 - 1, exponent);
}

TEST_CASE("Every code of a small float comes back from its value") {
  for (const char* name : {"f16", "bf16", "fp8_e4m3", "fp8_e5m2", "fp8_e4m3fnuz", "fp8_e5m2fnuz"}) {
    const Dtype& dtype = named(name);
    CAPTURE(name);
    for (std::uint64_t code = 0; code < std::uint64_t{1} << 8 * dtype.bytes; ++code) {
      const double number = value(dtype, code);
      if (!std::isnan(number)) {
        REQUIRE(bits(dtype, number) == code);
      } else {
        REQUIRE(std::isnan(value(dtype, bits(dtype, number))));
      }
    }
  }
}

TEST_CASE("FP8 and bf16 have the values and the rounding of the reference") {
  using kernels::reference::Fp8Format;
  for (unsigned code = 0; code < 256; ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    const double ocp = kernels::reference::fp8_value(Fp8Format::kOcp, byte);
    const double fnuz = kernels::reference::fp8_value(Fp8Format::kFnuz, byte);
    CHECK((value(named("fp8_e4m3"), code) == ocp || std::isnan(ocp)));
    CHECK((value(named("fp8_e4m3fnuz"), code) == fnuz || std::isnan(fnuz)));
  }
  kernels::reference::Random random(kSeed, 0);
  for (int i = 0; i < kSamples; ++i) {
    const auto number = static_cast<float>(sample(random));
    REQUIRE(bits(named("fp8_e4m3"), number) == kernels::reference::fp8_bits(Fp8Format::kOcp, number));
    REQUIRE(bits(named("fp8_e4m3fnuz"), number) == kernels::reference::fp8_bits(Fp8Format::kFnuz, number));
    REQUIRE(bits(named("bf16"), number) == kernels::reference::bf16_bits(number));
  }
}

TEST_CASE("f16 rounds as the compiler's half does") {
  kernels::reference::Random random(kSeed, 1);
  for (int i = 0; i < kSamples; ++i) {
    const auto number = static_cast<float>(sample(random));
    __extension__ const auto half = static_cast<_Float16>(number);
    REQUIRE(bits(named("f16"), number) == std::bit_cast<std::uint16_t>(half));
  }
  CHECK(value(named("f16"), bits(named("f16"), 65519)) == 65504);
  CHECK(std::isinf(value(named("f16"), bits(named("f16"), 65520))));
}

TEST_CASE("The largest values of FP8, and what lies beyond") {
  CHECK(value(named("fp8_e4m3"), bits(named("fp8_e4m3"), 448)) == 448);
  CHECK(std::isnan(value(named("fp8_e4m3"), bits(named("fp8_e4m3"), 480))));
  CHECK(value(named("fp8_e5m2"), bits(named("fp8_e5m2"), 57344)) == 57344);
  CHECK(std::isinf(value(named("fp8_e5m2"), bits(named("fp8_e5m2"), 65536))));
  CHECK(value(named("fp8_e5m2fnuz"), bits(named("fp8_e5m2fnuz"), 57344)) == 57344);
  CHECK(std::isnan(value(named("fp8_e5m2fnuz"), bits(named("fp8_e5m2fnuz"), 1e9))));
  CHECK(bits(named("fp8_e4m3fnuz"), -0.0) == 0);
}

TEST_CASE("Integers hold their range and nothing else") {
  CHECK(named("i8").holds(-128));
  CHECK_FALSE(named("i8").holds(128));
  CHECK_FALSE(named("u8").holds(-1));
  CHECK_FALSE(named("u32").holds(0.5));
  CHECK_FALSE(named("u32").holds(4294967296.0));
  CHECK_FALSE(named("i32").holds(std::numeric_limits<double>::quiet_NaN()));
  CHECK_FALSE(named("bool").holds(2));
  CHECK(value(named("i16"), bits(named("i16"), -5)) == -5);
  const std::uint64_t large = 0xFFFFFFFFFFFFFFFE;
  std::byte memory[8];
  named("u64").store_bits(large, memory);
  CHECK(named("u64").text(memory) == "18446744073709551614");
  CHECK(named("i64").text(memory) == "-2");
}

}  // namespace
}  // namespace monojit::tools
