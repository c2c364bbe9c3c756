#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/float32.h"
#include "kernels/common/reference/fp8.h"
#include "kernels/common/reference/random.h"

namespace monojit::kernels::reference {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint64_t kSeed = 7;

TEST_CASE("bf16 rounds to nearest even and keeps NaN") {
  CHECK(bf16_bits(1.0F) == 0x3F80);
  CHECK(bf16_bits(1.0F + 0x1p-8F) == 0x3F80);      // tie to even, down
  CHECK(bf16_bits(1.0F + 3 * 0x1p-8F) == 0x3F82);  // tie to even, up
  CHECK(bf16_bits(1.0F + 0x1p-8F + 0x1p-20F) == 0x3F81);
  CHECK(bf16_bits(-0.0F) == 0x8000);
  CHECK(bf16_bits(std::numeric_limits<float>::max()) == 0x7F80);
  CHECK(bf16_bits(std::bit_cast<float>(0x7F800001U)) == 0x7FC0);  // a signalling NaN doesn't become infinity
  CHECK(bf16_bits(0x1p-133F) == 0x0001);
}

TEST_CASE("every FP8 byte decodes by its fields and encodes back to itself") {
  for (const Fp8Format format : {Fp8Format::kOcp, Fp8Format::kFnuz}) {
    const int bias = format == Fp8Format::kOcp ? 7 : 8;
    for (int byte = 0; byte < 256; ++byte) {
      const auto code = static_cast<std::uint8_t>(byte);
      const float value = fp8_value(format, code);
      if (fp8_is_nan(format, code)) {
        CHECK(std::isnan(value));
        continue;
      }
      const int exponent = (byte >> 3) & 15;
      const double magnitude =
          exponent == 0 ? (byte & 7) / 8.0 * std::exp2(1 - bias) : (1 + (byte & 7) / 8.0) * std::exp2(exponent - bias);
      CHECK(value == (byte < 128 ? magnitude : -magnitude));
      CHECK(fp8_bits(format, value) == code);
    }
  }
}

TEST_CASE("FP8 takes the nearest neighbour, on a tie the even one") {
  for (const Fp8Format format : {Fp8Format::kOcp, Fp8Format::kFnuz}) {
    const int last = format == Fp8Format::kOcp ? 0x7E : 0x7F;
    for (int code = 0; code < last; ++code) {
      const float low = fp8_value(format, static_cast<std::uint8_t>(code));
      const float high = fp8_value(format, static_cast<std::uint8_t>(code + 1));
      const float middle = 0.5F * (low + high);
      CHECK(fp8_bits(format, middle) == code + code % 2);
      CHECK(fp8_bits(format, std::nextafterf(middle, 0)) == code);
      CHECK(fp8_bits(format, std::nextafterf(middle, kInfinity)) == code + 1);
    }
  }
}

TEST_CASE("FP8 beyond the largest value is NaN, and only OCP keeps signs of zero and NaN") {
  CHECK(fp8_bits(Fp8Format::kOcp, 464.0F) == 0x7E);
  CHECK(fp8_bits(Fp8Format::kOcp, std::nextafterf(464.0F, kInfinity)) == 0x7F);
  CHECK(fp8_bits(Fp8Format::kOcp, -500.0F) == 0xFF);
  CHECK(fp8_bits(Fp8Format::kOcp, kInfinity) == 0x7F);
  CHECK(fp8_bits(Fp8Format::kOcp, -0.0F) == 0x80);
  CHECK(fp8_bits(Fp8Format::kOcp, -0x1p-30F) == 0x80);
  CHECK(fp8_bits(Fp8Format::kFnuz, std::nextafterf(248.0F, 0)) == 0x7F);
  CHECK(fp8_bits(Fp8Format::kFnuz, 248.0F) == 0x80);
  CHECK(fp8_bits(Fp8Format::kFnuz, -500.0F) == 0x80);
  CHECK(fp8_bits(Fp8Format::kFnuz, kNan) == 0x80);
  CHECK(fp8_bits(Fp8Format::kFnuz, -0.0F) == 0);
  CHECK(fp8_bits(Fp8Format::kFnuz, -0x1p-30F) == 0);
}

TEST_CASE("the reciprocal square root is correctly rounded") {
  CHECK(rsq(4.0F) == 0.5F);
  CHECK(rsq(0x1p-126F) == 0x1p63F);
  Random random(kSeed, 0);
  for (int i = 0; i < 100000; ++i) {
    const auto bits = static_cast<std::uint32_t>(0x00800000U + random.below(0x7F000000U));
    const auto x = std::bit_cast<float>(bits);
    const float result = rsq(x);
    // In 64 bits: the true value lies within half a place of the result.
    const long double exact = 1.0L / std::sqrt(static_cast<long double>(x));
    const long double up = (static_cast<long double>(result) + std::nextafterf(result, kInfinity)) / 2;
    const long double down = (static_cast<long double>(result) + std::nextafterf(result, 0)) / 2;
    if (exact <= down || exact >= up) FAIL("rsq of bits " << bits);
  }
}

TEST_CASE("the reciprocal square root flushes denormals and answers special values") {
  CHECK(rsq(0.0F) == kInfinity);
  CHECK(rsq(-0.0F) == -kInfinity);
  CHECK(rsq(0x1p-130F) == kInfinity);
  CHECK(rsq(kInfinity) == 0);
  CHECK(std::isnan(rsq(-1.0F)));
  CHECK(std::isnan(rsq(kNan)));
}

TEST_CASE("division by reciprocal equals the quotient for normal results and drops the sign of zero") {
  Random random(kSeed, 1);
  for (int i = 0; i < 10000; ++i) {
    const float x = random.gaussian() * 100;
    const auto d = static_cast<float>(0.001 + random.uniform());
    REQUIRE(divide_by_reciprocal(x, d, 1.0F / d) == x / d);
  }
  CHECK_FALSE(std::signbit(divide_by_reciprocal(-0.0F, 2.0F, 0.5F)));
  const float tiny = 0x1p-130F;  // its reciprocal overflows, the quotient would be 1
  CHECK(std::isnan(divide_by_reciprocal(tiny, tiny, 1.0F / tiny)));
}

TEST_CASE("minimum and maximum propagate NaN from either side") {
  CHECK(maximum(1, 2) == 2);
  CHECK(minimum(1, 2) == 1);
  CHECK(std::isnan(maximum(kNan, 1)));
  CHECK(std::isnan(maximum(1, kNan)));
  CHECK(std::isnan(minimum(kNan, 1)));
  CHECK(std::isnan(minimum(1, kNan)));
}

TEST_CASE("a half wave adds lanes 16 apart first") {
  constexpr float kLarge = 0x1p24F;  // absorbs a single 1, not a 2
  HalfWave lanes{};
  lanes[0] = kLarge;
  lanes[16] = 1;
  CHECK(half_wave_sum(lanes) == kLarge);
  lanes[8] = 1;  // joins after lane 16's: absorbed again
  CHECK(half_wave_sum(lanes) == kLarge);
  lanes[24] = 1;  // joins lane 8's before they meet lane 0's
  CHECK(half_wave_sum(lanes) == kLarge + 2);
  HalfWave neighbours{};
  neighbours[0] = kLarge;
  neighbours[1] = 1;
  neighbours[17] = 1;
  CHECK(half_wave_sum(neighbours) == kLarge + 2);
}

}  // namespace
}  // namespace monojit::kernels::reference
