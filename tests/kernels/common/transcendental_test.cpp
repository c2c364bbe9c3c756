#include <cmath>
#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/float32.h"

namespace monojit::kernels::reference {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST_CASE("powers of two are exact, their ends flush and overflow") {
  for (int n = -126; n <= 127; ++n) CHECK(exp2(static_cast<float>(n)) == std::ldexp(1.0F, n));
  CHECK(exp2(-127) == 0);  // a denormal, flushed
  CHECK(exp2(-kInfinity) == 0);
  CHECK(exp2(128) == kInfinity);
  CHECK(exp2(kInfinity) == kInfinity);
  CHECK(exp2(-0.0F) == 1);
  CHECK(exp2(0x1p-140F) == 1);
  CHECK(std::isnan(exp2(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("a power of two is within one unit of the last place") {
  for (float x = -125; x < 127; x += 0.0137F) {
    const double exact = std::exp2(static_cast<double>(x));
    CHECK(std::fabs(static_cast<double>(exp2(x)) - exact) <= exact * 0x1p-23);
  }
}

TEST_CASE("a reciprocal is rounded to nearest, denormals flushed") {
  for (float x = 0.7F; x < 3; x += 0.00931F) {
    CHECK(rcp(x) == 1 / x);
    CHECK(rcp(-x) == -1 / x);
  }
  CHECK(rcp(kInfinity) == 0);
  CHECK(rcp(0x1p127F) == 0);  // 2^-127
  CHECK(rcp(0x1p126F) == 0x1p-126F);
  CHECK(rcp(0x1p-130F) == kInfinity);
  CHECK(rcp(-0.0F) == -kInfinity);
}

TEST_CASE("a wave's sum meets 32 lanes apart first") {
  Wave values{};
  values[0] = 0x1p24F;
  values[32] = 1;
  values[16] = 1;
  CHECK(wave_sum(values) == 0x1p24F);
  values[48] = 1;  // meets lane 16 first
  CHECK(wave_sum(values) == 0x1p24F + 2);
}

}  // namespace
}  // namespace monojit::kernels::reference
