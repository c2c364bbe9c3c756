#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/fp8.h"
#include "kernels/common/reference/random.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/norm.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::bf16_bits;
using reference::BFloat16Bits;

constexpr float kEps = 1e-6F;
constexpr std::uint64_t kSeed = 3;
constexpr Chip kChip{reference::Fp8Format::kOcp, 448, 448};

/// A row of zeros except for what is named.
struct Row {
  std::vector<BFloat16Bits> ar = std::vector<BFloat16Bits>(kHidden, 0);
  std::vector<BFloat16Bits> res = std::vector<BFloat16Bits>(kHidden, 0);
  std::vector<BFloat16Bits> gamma = std::vector<BFloat16Bits>(kHidden, 0);

  NormedRow run(float eps = kEps, const Chip& chip = kChip) const { return normalise_row(ar, res, gamma, eps, chip); }
};

Row gaussian_row() {
  reference::Random random(kSeed, 0);
  Row row;
  for (auto* values : {&row.ar, &row.res, &row.gamma}) {
    for (BFloat16Bits& bits : *values) bits = bf16_bits(random.gaussian());
  }
  return row;
}

TEST_CASE("squares are summed in index order inside a thread of 8") {
  std::vector<float> row(kHidden, 0);
  row[0] = 4096;  // its square, 2^24, absorbs single ones behind it
  for (std::size_t i = 1; i < 8; ++i) row[i] = 1;
  CHECK(sum_of_squares(row) == 0x1p24F);
  row[8] = std::sqrt(2.0F);  // the next thread meets the sum later, by lane exchange: 2 is not absorbed
  CHECK(sum_of_squares(row) == 0x1p24F + 2);
  std::vector<float> reversed(kHidden, 0);
  reversed[7] = 4096;
  for (std::size_t i = 0; i < 7; ++i) reversed[i] = 1;
  CHECK(sum_of_squares(reversed) == 0x1p24F + 8);  // 7 + 2^24, tie to even
}

TEST_CASE("a square is not rounded before it is added") {
  std::vector<float> row(kHidden, 0);
  row[0] = 0x1p-13F;
  row[1] = 1 + 0x1p-12F;  // its square, 1 + 2^-11 + 2^-24, is a tie that the 2^-26 before it decides
  CHECK(sum_of_squares(row) == 1 + 0x1p-11F + 0x1p-23F);
}

TEST_CASE("threads meet 16 lanes apart first, half waves in the same order") {
  const auto thread_of = [](std::size_t half_wave, std::size_t lane) { return (half_wave * 32 + lane) * 8; };
  std::vector<float> row(kHidden, 0);
  row[thread_of(0, 0)] = 4096;
  row[thread_of(0, 16)] = 1;
  row[thread_of(0, 8)] = 1;
  CHECK(sum_of_squares(row) == 0x1p24F);
  row[thread_of(0, 24)] = 1;  // meets lane 8 first
  CHECK(sum_of_squares(row) == 0x1p24F + 2);

  std::vector<float> waves(kHidden, 0);
  waves[thread_of(0, 0)] = 4096;
  waves[thread_of(16, 0)] = 1;
  waves[thread_of(8, 0)] = 1;
  CHECK(sum_of_squares(waves) == 0x1p24F);
  waves[thread_of(4, 0)] = 1;
  CHECK(sum_of_squares(waves) == 0x1p24F);
  waves[thread_of(12, 0)] = 1;  // half waves 4 and 12 meet 8 apart, before 4 meets 0
  CHECK(sum_of_squares(waves) == 0x1p24F + 2);
}

TEST_CASE("the residual is rounded on its own, the norm goes on unrounded") {
  Row row;
  row.ar[0] = bf16_bits(1);
  row.res[0] = bf16_bits(0x1p-9F);
  const NormedRow result = row.run();
  CHECK(result.residual[0] == bf16_bits(1));
  row.res[0] = 0;
  CHECK(result.quantised.scale != row.run().quantised.scale);
}

TEST_CASE("a row of zeros gets scale 1 and bytes 0") {
  Row row;
  row.ar[5] = bf16_bits(3);
  row.res[5] = bf16_bits(-3);
  row.ar[6] = bf16_bits(-0.0F);
  row.res[6] = bf16_bits(-0.0F);
  const NormedRow result = row.run();
  CHECK(result.quantised.scale == 1);
  CHECK(std::ranges::all_of(result.quantised.bytes, [](std::uint8_t byte) { return byte == 0; }));
  CHECK(result.residual[6] == bf16_bits(-0.0F));
}

TEST_CASE("gamma -1 erases the row") {
  Row row = gaussian_row();
  std::ranges::fill(row.gamma, bf16_bits(-1));
  const NormedRow result = row.run();
  CHECK(result.quantised.scale == 1);
  CHECK(std::ranges::all_of(result.quantised.bytes, [](std::uint8_t byte) { return byte == 0; }));
}

TEST_CASE("a single element becomes the largest code, wherever it stands") {
  for (const std::size_t k : {0, 15, 16, 767, 768, 6143}) {
    Row row;
    row.res[k] = bf16_bits(-2);
    const NormedRow result = row.run();
    CHECK(result.quantised.bytes[k] == 0xFE);
    CHECK(std::ranges::count(result.quantised.bytes, 0) == kHidden - 1);
    const double rstd = 1 / std::sqrt(4.0 / kHidden + 1e-6);
    CHECK(std::fabs(result.quantised.scale - 2 * rstd / 448) < 1e-6 * rstd);
  }
}

TEST_CASE("the deviation is multiplied first, 1 + gamma second") {
  Row row;
  row.res[0] = bf16_bits(3);
  const auto rstd = static_cast<float>(1 / std::sqrt(static_cast<double>(9.0F / kHidden + kEps)));
  int telling = 0;
  for (int i = 1; i < 200; ++i) {
    row.gamma[0] = bf16_bits(static_cast<float>(i) / 128);
    const float factor = reference::bf16_value(row.gamma[0]) + 1;
    CHECK(row.run().quantised.scale == ((3 * rstd) * factor) / 448);
    telling += ((3 * rstd) * factor) / 448 != (3 * (rstd * factor)) / 448;
  }
  CHECK(telling > 20);
}

TEST_CASE("bytes times scale are the normed row to within half a step") {
  const Row row = gaussian_row();
  for (const char* arch : {"gfx950", "gfx942"}) {
    const Chip chip = chip_rules(arch);
    const NormedRow result = row.run(kEps, chip);
    double squares = 0;
    std::vector<double> sums;
    for (std::size_t i = 0; i < kHidden; ++i) {
      sums.push_back(static_cast<double>(reference::bf16_value(row.ar[i])) + reference::bf16_value(row.res[i]));
      squares += sums[i] * sums[i];
    }
    const double rstd = 1 / std::sqrt(squares / kHidden + 1e-6);
    double largest = 0;
    for (std::size_t i = 0; i < kHidden; ++i) {
      const double normed = sums[i] * rstd * (1.0 + reference::bf16_value(row.gamma[i]));
      const double scaled = normed / result.quantised.scale;
      const double half_step = std::max(std::fabs(scaled) / 16, std::ldexp(1.0, fp8_least_exponent(chip.format) - 4));
      const double error = std::fabs(reference::fp8_value(chip.format, result.quantised.bytes[i]) - scaled);
      if (error > half_step * (1 + 1e-5)) FAIL("element " << i << " on " << arch);
      largest = std::max(largest, std::fabs(normed));
    }
    CHECK(std::fabs(result.quantised.scale * chip.activation_max - largest) < 1e-5 * largest);
  }
}

TEST_CASE("the largest inputs overflow in the order of the operations") {
  Row row;
  row.ar[0] = 0x7F7F;  // the largest bf16, 255 * 2^120
  row.res[0] = bf16_bits(0x1p119F);
  const NormedRow rounding = row.run();
  CHECK(rounding.residual[0] == 0x7F80);  // a tie, away from the odd neighbour
  CHECK(rounding.quantised.scale == 1);   // the square overflows, rstd is 0, and so is the finite sum's norm
  CHECK(rounding.quantised.bytes[0] == 0);
  row.res[0] = 0x7F7F;
  CHECK(std::isnan(row.run().quantised.scale));  // the sum itself is infinite: inf * 0

  Row large;
  large.res[0] = bf16_bits(0x1p63F);
  CHECK(large.run().quantised.bytes[0] == 0x7E);
}

TEST_CASE("denormal inputs keep their value") {
  Row row;
  row.res[0] = 1;  // 2^-133
  const NormedRow result = row.run();
  CHECK(result.residual[0] == 1);
  // n = 2^-133 * rsq(eps) ~ 2^-123: its scale is an f32 denormal whose reciprocal overflows, and the sequence gives
  // NaN.
  CHECK(result.quantised.scale < std::numeric_limits<float>::min());
  CHECK(result.quantised.scale > 0);
  CHECK(reference::fp8_is_nan(kChip.format, result.quantised.bytes[0]));
  // 0 * inf is NaN as well.
  CHECK(reference::fp8_is_nan(kChip.format, result.quantised.bytes[1]));
}

TEST_CASE("a NaN or infinity spoils its whole row") {
  for (const float value :
       {std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    Row row = gaussian_row();
    row.ar[100] = bf16_bits(value);
    const NormedRow result = row.run();
    CHECK(std::isnan(result.quantised.scale));
    CHECK(std::ranges::all_of(result.quantised.bytes,
                              [](std::uint8_t byte) { return reference::fp8_is_nan(kChip.format, byte); }));
  }
}

}  // namespace
}  // namespace monojit::kernels::minimax_m3
