#include "kernels/common/reference/matrix_core.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/error.h"
#include "kernels/common/reference/random.h"
#include "tests/kernels/common/dyadic.h"

namespace monojit::kernels::reference {
namespace {

using namespace tests;

constexpr std::uint64_t kSeed = 11;
constexpr int kVectors = 2000;  // MFMAs a distribution: 64,000 groups

struct Code {
  Dyadic value;
  int exponent;  // never below the format's least normal one
};

Code decode(Fp8Format format, std::uint8_t byte) {
  const int bias = format == Fp8Format::kOcp ? 7 : 8;
  const int field = (byte >> 3) & 15;
  const int exponent = std::max(field, 1) - bias;
  const int significand = (byte & 7) + (field == 0 ? 0 : 8);
  return {{byte < 128 ? significand : -significand, exponent - 3}, exponent};
}

struct Sum {
  Dyadic value;
  int exponent = -999;  // the largest of its products
};

Sum parity_sum(Fp8Format format, const std::uint8_t* a, const std::uint8_t* b) {
  Sum sum;
  for (int k = 0; k < 16; k += 2) {
    const Code x = decode(format, a[k]);
    const Code y = decode(format, b[k]);
    if (x.value.mantissa * y.value.mantissa != 0) sum.exponent = std::max(sum.exponent, x.exponent + y.exponent);
  }
  for (int k = 0; k < 16; k += 2) {
    const Dyadic x = decode(format, a[k]).value;
    const Dyadic y = decode(format, b[k]).value;
    sum.value = add(sum.value, cut({x.mantissa * y.mantissa, x.exponent + y.exponent}, sum.exponent - 24));
  }
  return sum;
}

/// One group of 16, rule by rule.
float plain_group(Fp8Format format, const std::uint8_t* a, const std::uint8_t* b, float c) {
  const Sum even = parity_sum(format, a, b);
  const Sum odd = parity_sum(format, a + 1, b + 1);
  const int ed = std::max(even.exponent, odd.exponent);
  const Dyadic products = add(round_down(even.value, ed - 24), round_down(odd.value, ed - 24));
  const int ec = c == 0 ? -126 : std::max(std::ilogb(c), -126);
  const int top = std::max(ed, ec);
  Dyadic total = round_down(products, top - 32);
  if (ec >= top - 25) total = add(total, round_down(dyadic(c), top - 24));
  if (total.mantissa == 0) return 0;
  return nearest_f32(round_down(total, std::max(leading_exponent(total), -126) - 31));
}

struct Operands {
  std::array<std::array<std::uint8_t, kMfmaK>, kMfmaRows> a{};
  std::array<std::uint8_t, kMfmaK> b{};
  MfmaColumn c{};

  MfmaColumn run(MatrixModel model, Fp8Format format) const {
    const Fp8Table& table = fp8_table(format);
    Fp8Rows rows{};
    Fp8Column column{};
    for (int k = 0; k < kMfmaK; ++k) {
      for (int row = 0; row < kMfmaRows; ++row) rows.set(k, row, a[row][k], table);
      column.set(k, b[k], table);
    }
    MfmaColumn result = c;
    mfma_fp8(model, rows, column, result);
    return result;
  }
};

std::uint8_t finite_byte(Random& random, Fp8Format format, int first_field, int fields) {
  while (true) {
    const std::uint64_t field =
        static_cast<std::uint64_t>(first_field) + random.below(static_cast<std::uint64_t>(fields));
    const auto byte = static_cast<std::uint8_t>((random.below(2) << 7) | (field << 3) | random.below(8));
    if (!fp8_is_nan(format, byte)) return byte;
  }
}

float addend(Random& random) {
  switch (random.below(5)) {
    case 0:
      return 0;
    case 1:
      return random.gaussian() * 0x1p14F;
    case 2:
      return random.gaussian() * std::ldexp(1.0F, static_cast<int>(random.below(80)) - 40);
    case 3:
      return std::bit_cast<float>(static_cast<std::uint32_t>(random.below(0x00800000U)));  // denormal
    default:
      return (random.below(2) == 0 ? 1.0F : -1.0F) * std::ldexp(1.0F, static_cast<int>(random.below(60)) - 30);
  }
}

Operands random_operands(Random& random, Fp8Format format) {
  static constexpr int kFirst[] = {0, 0, 12, 6};
  static constexpr int kCount[] = {16, 2, 4, 4};
  const std::uint64_t spread_a = random.below(4);
  const std::uint64_t spread_b = random.below(4);
  const std::uint64_t zeros = random.below(4);  // sparser and sparser
  const auto byte = [&](std::uint64_t spread) {
    if (zeros > 0 && random.below(4) < zeros) return std::uint8_t{0};
    return finite_byte(random, format, kFirst[spread], kCount[spread]);
  };
  Operands operands;
  for (auto& row : operands.a) {
    for (std::uint8_t& code : row) code = byte(spread_a);
  }
  for (std::uint8_t& code : operands.b) code = byte(spread_b);
  for (float& c : operands.c) c = addend(random);
  return operands;
}

TEST_CASE("the fast cdna3 model agrees with its rules written in big integers") {
  for (const Fp8Format format : {Fp8Format::kOcp, Fp8Format::kFnuz}) {
    Random random(kSeed, static_cast<std::uint64_t>(format));
    for (int i = 0; i < kVectors; ++i) {
      const Operands operands = random_operands(random, format);
      const MfmaColumn fast = operands.run(MatrixModel::kCdna3, format);
      for (int row = 0; row < kMfmaRows; ++row) {
        const float half = plain_group(format, operands.a[row].data(), operands.b.data(), operands.c[row]);
        const float plain = plain_group(format, operands.a[row].data() + 16, operands.b.data() + 16, half);
        if (fast[row] != plain) FAIL("vector " << i << " row " << row << ": " << fast[row] << " is not " << plain);
      }
    }
  }
}

TEST_CASE("the exact model rounds the addend and all products once") {
  Random random(kSeed, 2);
  for (int i = 0; i < kVectors; ++i) {
    const Operands operands = random_operands(random, Fp8Format::kOcp);
    const MfmaColumn fast = operands.run(MatrixModel::kExact, Fp8Format::kOcp);
    for (int row = 0; row < kMfmaRows; ++row) {
      Dyadic sum;
      for (int k = 0; k < kMfmaK; ++k) {
        const Dyadic x = decode(Fp8Format::kOcp, operands.a[row][k]).value;
        const Dyadic y = decode(Fp8Format::kOcp, operands.b[k]).value;
        sum = add(sum, {x.mantissa * y.mantissa, x.exponent + y.exponent});
      }
      if (std::fabs(operands.c[row]) > 0 && std::fabs(operands.c[row]) < 0x1p-70F) continue;  // wider than 128 bits
      const float plain = nearest_f32(add(sum, dyadic(operands.c[row])));
      if (fast[row] != plain) FAIL("vector " << i << " row " << row << ": " << fast[row] << " is not " << plain);
    }
  }
}

/// c = 2^16 and products -2^16, -2^-8, -2^-9, -2^-10 at k = 0..3: the published directed vector, scaled into E4M3's
/// range.
TEST_CASE("a cancelled addend shows what each model keeps of small products") {
  Operands operands;
  operands.c.fill(0x1p16F);
  const float values[] = {-256, -0x1p-4F, -0x1p-5F, -0x1p-6F};
  const float others[] = {256, 0x1p-4F, 0x1p-4F, 0x1p-4F};
  for (int k = 0; k < 4; ++k) {
    for (auto& row : operands.a) row[k] = fp8_bits(Fp8Format::kOcp, values[k]);
    operands.b[k] = fp8_bits(Fp8Format::kOcp, others[k]);
  }
  CHECK(operands.run(MatrixModel::kCdna3, Fp8Format::kOcp)[0] == -0x1p-7F);
  CHECK(operands.run(MatrixModel::kFmaChain, Fp8Format::kOcp)[0] == -0.875F * 0x1p-7F);
  CHECK(operands.run(MatrixModel::kExact, Fp8Format::kOcp)[0] == -0.875F * 0x1p-7F);
}

TEST_CASE("a NaN poisons its row, a NaN column all rows, under every model") {
  for (const MatrixModel model : {MatrixModel::kCdna3, MatrixModel::kFmaChain, MatrixModel::kExact}) {
    Operands operands;
    for (auto& row : operands.a) row.fill(fp8_bits(Fp8Format::kOcp, 1));
    operands.b.fill(fp8_bits(Fp8Format::kOcp, 1));
    operands.a[3][31] = 0x7F;
    const MfmaColumn result = operands.run(model, Fp8Format::kOcp);
    CHECK(std::isnan(result[3]));
    CHECK(result[2] == kMfmaK);
    operands.b[0] = 0xFF;
    const MfmaColumn poisoned = operands.run(model, Fp8Format::kOcp);
    CHECK(std::ranges::all_of(poisoned, [](float value) { return std::isnan(value); }));
    operands.b[0] = 0;
    operands.c[5] = std::nanf("");
    CHECK(std::isnan(operands.run(model, Fp8Format::kOcp)[5]));
  }
}

TEST_CASE("model names are checked") {
  CHECK(matrix_model("fma-chain") == MatrixModel::kFmaChain);
  CHECK_THROWS_AS(matrix_model("cdna4"), UserError);
}

}  // namespace
}  // namespace monojit::kernels::reference
