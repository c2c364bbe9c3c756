#include "kernels/common/reference/matrix_core_bf16.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/random.h"
#include "tests/kernels/common/dyadic.h"

namespace monojit::kernels::reference {
namespace {

using namespace tests;

constexpr std::uint64_t kSeed = 12;
constexpr int kVectors = 1500;  // MFMAs a distribution
constexpr float kInfinity = std::numeric_limits<float>::infinity();

int exponent_of(float x) { return x == 0 ? -126 : std::max(std::ilogb(x), -126); }

/// One group of 8, rule by rule.
float plain_group(const float* a, const float* b, float c) {
  int ed = -999;
  for (int k = 0; k < 8; ++k) {
    if (a[k] != 0 && b[k] != 0) ed = std::max(ed, exponent_of(a[k]) + exponent_of(b[k]));
  }
  Dyadic products;
  for (int k = 0; k < 8; ++k) {
    if (a[k] == 0 || b[k] == 0) continue;
    const Dyadic x = dyadic(a[k]);
    const Dyadic y = dyadic(b[k]);
    products = add(products, cut({x.mantissa * y.mantissa, x.exponent + y.exponent}, ed - 24));
  }
  const int top = std::max(ed, exponent_of(c));
  const Dyadic total = add(round_down(products, top - 32), round_down(dyadic(c), top - 24));
  if (total.mantissa == 0) return 0;
  return nearest_f32(round_down(total, std::max(leading_exponent(total), -126) - 31));
}

struct Operands {
  std::array<std::array<float, kMfmaK>, kMfmaRows> a{};
  std::array<float, kMfmaK> b{};
  MfmaColumn c{};

  MfmaColumn run(MatrixModel model, int instruction_k = kMfmaK) const {
    BFloat16Rows rows;
    BFloat16Column column;
    BFloat16Column all;  // of one row: its range
    BFloat16Range range{kInfinity, 0};
    for (int k = 0; k < kMfmaK; ++k) {
      column.value[k] = b[k];
      column.power[k] = bf16_power(b[k]);
    }
    for (int row = 0; row < kMfmaRows; ++row) {
      for (int k = 0; k < kMfmaK; ++k) {
        rows.value[k][row] = a[row][k];
        rows.power[k][row] = all.power[k] = bf16_power(a[row][k]);
      }
      range.least = std::min(range.least, range_of(all).least);
      range.largest = std::max(range.largest, range_of(all).largest);
    }
    MfmaColumn result = c;
    mfma_bf16(model, instruction_k, rows, column, range, range_of(column), result);
    return result;
  }
};

/// A bf16 of an exponent within `spread` of `middle`.
float value(Random& random, int middle, std::uint64_t spread) {
  const int exponent = middle + static_cast<int>(random.below(2 * spread + 1)) - static_cast<int>(spread);
  const float significand = 1 + static_cast<float>(random.below(128)) / 128;
  return std::ldexp(random.below(2) == 0 ? significand : -significand, exponent);
}

Operands random_operands(Random& random) {
  static constexpr int kMiddles[] = {0, 0, -8, 20, -60, -66};  // two of the last: no f32 is that small
  static constexpr std::uint64_t kSpreads[] = {1, 6, 12, 3, 2, 3};
  const std::uint64_t a = random.below(std::size(kMiddles));
  const std::uint64_t b = random.below(std::size(kMiddles));
  const std::uint64_t zeros = random.below(4);
  Operands operands;
  const auto any = [&](std::uint64_t kind) {
    return zeros > 0 && random.below(4) < zeros ? 0 : value(random, kMiddles[kind], kSpreads[kind]);
  };
  for (auto& row : operands.a) {
    for (float& x : row) x = any(a);
  }
  for (float& x : operands.b) x = any(b);
  for (float& x : operands.c) {
    x = random.below(3) == 0 ? 0 : random.gaussian() * std::ldexp(1.0F, static_cast<int>(random.below(24)) - 16);
  }
  return operands;
}

TEST_CASE("bf16: the cdna3 model agrees with its rules written in big integers, over narrow and wide exponents") {
  Random random(kSeed, 0);
  for (int i = 0; i < kVectors; ++i) {
    const Operands operands = random_operands(random);
    const MfmaColumn fast = operands.run(MatrixModel::kCdna3);
    for (int row = 0; row < kMfmaRows; ++row) {
      float plain = operands.c[row];
      for (int k = 0; k < kMfmaK; k += 8) plain = plain_group(operands.a[row].data() + k, operands.b.data() + k, plain);
      if (fast[row] != plain) FAIL("vector " << i << " row " << row << ": " << fast[row] << " is not " << plain);
    }
  }
}

TEST_CASE("bf16: the exact model rounds once an instruction") {
  Random random(kSeed, 1);
  int telling = 0;
  for (int i = 0; i < kVectors; ++i) {
    const Operands operands = random_operands(random);
    for (const int instruction_k : {16, 32}) {
      const MfmaColumn fast = operands.run(MatrixModel::kExact, instruction_k);
      for (int row = 0; row < kMfmaRows; ++row) {
        float plain = operands.c[row];
        bool narrow = true;  // 128 bits are wide enough for all but addends far from the products, which are left out
        for (int first = 0; first < kMfmaK; first += instruction_k) {
          narrow = narrow && (plain == 0 || std::fabs(std::ilogb(plain)) <= 40);
          Dyadic sum = narrow ? dyadic(plain) : Dyadic{};
          for (int k = first; k < first + instruction_k; ++k) {
            const Dyadic x = dyadic(operands.a[row][k]);
            const Dyadic y = dyadic(operands.b[k]);
            if (x.mantissa == 0 || y.mantissa == 0) continue;
            narrow = narrow && std::abs(x.exponent + y.exponent + 60) <= 40;
            if (!narrow) break;
            // Trailing zeros of the 8-bit significands in 30 bits.
            sum = add(sum, {(x.mantissa >> 22) * (y.mantissa >> 22), x.exponent + y.exponent + 44});
          }
          if (narrow) plain = nearest_f32(sum);
        }
        if (!narrow) continue;
        ++telling;
        if (fast[row] != plain) FAIL("vector " << i << " row " << row << ": " << fast[row] << " is not " << plain);
      }
    }
  }
  CHECK(telling > kVectors);
}

TEST_CASE("bf16: the chain is one fused multiply-add after the other") {
  Random random(kSeed, 2);
  for (int i = 0; i < kVectors; ++i) {
    const Operands operands = random_operands(random);
    const MfmaColumn fast = operands.run(MatrixModel::kFmaChain);
    for (int row = 0; row < kMfmaRows; ++row) {
      float plain = operands.c[row];
      for (int k = 0; k < kMfmaK; ++k) plain = std::fma(operands.a[row][k], operands.b[k], plain);
      if (fast[row] != plain) FAIL("vector " << i << " row " << row);
    }
  }
}

TEST_CASE("bf16: values that no quick way holds give what the quick way gives on scaled ones") {
  // Everything 2^60 larger: sums scale with it exactly, but products leave the quick way's range.
  Random random(kSeed, 3);
  for (int i = 0; i < 200; ++i) {
    Operands operands = random_operands(random);
    for (auto& row : operands.a) {
      for (float& x : row) x = value(random, 0, 4);
    }
    for (float& x : operands.b) x = value(random, 0, 4);
    Operands scaled = operands;
    for (float& x : scaled.b) x *= 0x1p60F;
    for (float& x : scaled.c) x *= 0x1p60F;
    for (const MatrixModel model : {MatrixModel::kCdna3, MatrixModel::kFmaChain, MatrixModel::kExact}) {
      const MfmaColumn small = operands.run(model);
      const MfmaColumn large = scaled.run(model);
      for (int row = 0; row < kMfmaRows; ++row) CHECK(large[row] == small[row] * 0x1p60F);
    }
  }
}

/// The published directed vector: c = 2^23, products -2^23, -0.5, -0.25, -0.125.
TEST_CASE("bf16: a cancelled addend shows what each model keeps of small products") {
  Operands operands;
  operands.c.fill(0x1p23F);
  const float values[] = {-0x1p23F, -0.5F, -0.25F, -0.125F};
  for (int k = 0; k < 4; ++k) {
    for (auto& row : operands.a) row[k] = values[k];
    operands.b[k] = 1;
  }
  CHECK(operands.run(MatrixModel::kCdna3)[0] == -0.5F);
  CHECK(operands.run(MatrixModel::kFmaChain)[0] == -0.875F);
  CHECK(operands.run(MatrixModel::kExact)[0] == -0.875F);
}

TEST_CASE("bf16: a tiny negative addend pulls the cdna3 sum down one step") {
  Operands operands;
  operands.a[0][0] = 1;
  operands.b[0] = 0x1p20F;
  operands.c[0] = -0x1p-60F;
  CHECK(operands.run(MatrixModel::kCdna3)[0] == 0x1p20F - 0x1p-4F);
  CHECK(operands.run(MatrixModel::kFmaChain)[0] == 0x1p20F);
  CHECK(operands.run(MatrixModel::kExact)[0] == 0x1p20F);
  operands.c[0] = 0x1p-60F;
  CHECK(operands.run(MatrixModel::kCdna3)[0] == 0x1p20F);
}

TEST_CASE("bf16: infinities and NaNs") {
  for (const MatrixModel model : {MatrixModel::kCdna3, MatrixModel::kFmaChain, MatrixModel::kExact}) {
    Operands operands;
    for (auto& row : operands.a) row.fill(1);
    operands.b.fill(1);
    operands.b[3] = kInfinity;
    operands.a[1][3] = -1;
    operands.a[2][3] = 0;
    const MfmaColumn result = operands.run(model);
    CHECK(result[0] == kInfinity);
    CHECK(result[1] == -kInfinity);
    CHECK(std::isnan(result[2]));
    operands.b[4] = std::nanf("");
    CHECK(std::isnan(operands.run(model)[0]));
  }
}

TEST_CASE("bf16: powers are those of the significand form") {
  CHECK(bf16_power(-3) == 2);
  CHECK(bf16_power(0) == 0);
  CHECK(bf16_power(bf16_value(1)) == 0x1p-126F);  // a denormal has a significand below 1
}

}  // namespace
}  // namespace monojit::kernels::reference
