#include "kernels/common/reference/matrix_core_mx.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/exact_sum.h"
#include "kernels/common/reference/random.h"

namespace monojit::kernels::reference {
namespace {

constexpr std::uint64_t kSeed = 23;
constexpr int kVectors = 300;

struct Mfma {
  std::array<std::uint8_t, kMxTileBytes> tile{};
  std::array<std::array<std::uint32_t, 4>, kMxMfmaBlocks> column{};
  std::array<std::array<std::uint8_t, kMfmaRows>, kMxMfmaBlocks> a_code{};
  std::array<std::uint8_t, kMxMfmaBlocks> b_code{};
  MfmaColumn c{};

  MfmaColumn run(MatrixModel model) const {
    std::array<MxColumnBlock, kMxMfmaBlocks> blocks{};
    for (std::size_t b = 0; b < kMxMfmaBlocks; ++b) blocks[b].load(column[b].data(), b_code[b]);
    MfmaColumn sums = c;
    mfma_mx(model, {tile.data(), a_code}, blocks.data(), sums);
    return sums;
  }
  /// A block's dot product, by the values of the codes.
  double dot(int block, int row) const {
    constexpr double kValues[16] = {0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6};
    double sum = 0;
    for (int k = 0; k < kMxBlock; ++k) {
      const unsigned byte = tile[static_cast<std::size_t>(256 * block + 16 * row + k / 2)];
      const std::uint32_t word = column[static_cast<std::size_t>(block)][static_cast<std::size_t>(k / 8)];
      sum += kValues[k % 2 == 0 ? byte & 15U : byte >> 4] * kValues[word >> (4 * (k % 8)) & 15U];
    }
    return std::ldexp(sum, a_code[block][row] + b_code[block] - 254);
  }
};

Mfma random_mfma(Random& random, unsigned first_code, unsigned codes) {
  Mfma mfma;
  for (std::uint8_t& byte : mfma.tile) byte = static_cast<std::uint8_t>(random.bits());
  for (auto& words : mfma.column) {
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random.bits());
  }
  const auto code = [&] { return static_cast<std::uint8_t>(first_code + random.below(codes)); };
  for (auto& row_codes : mfma.a_code) {
    for (std::uint8_t& one : row_codes) one = code();
  }
  for (std::uint8_t& one : mfma.b_code) one = code();
  for (float& c : mfma.c) c = random.gaussian();
  return mfma;
}

TEST_CASE("FP4 codes are the values 0, 0.5, 1, 1.5, 2, 3, 4 and 6 and their negatives") {
  constexpr float kValues[8] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
  for (unsigned code = 0; code < 8; ++code) {
    CHECK(fp4_value(code) == kValues[code]);
    CHECK(fp4_value(code + 8) == -kValues[code]);
    CHECK(fp4_code(kValues[code]) == code);
    CHECK(fp4_code(-kValues[code]) == code + 8);
  }
}

TEST_CASE("FP4 rounds to the nearest code, ties to the even one, and saturates") {
  const std::pair<float, unsigned> ties[] = {{0.25F, 0}, {0.75F, 2}, {1.25F, 2}, {1.75F, 4},
                                             {2.5F, 4},  {3.5F, 6},  {5, 6}};
  for (const auto& [value, code] : ties) {
    CHECK(fp4_code(value) == code);
    const unsigned below = fp4_value(code) > value ? code - 1 : code;
    CHECK(fp4_code(std::nextafterf(value, 0)) == below);
    CHECK(fp4_code(std::nextafterf(value, 9)) == below + 1);
  }
  CHECK(fp4_code(1e9F) == 7);
  CHECK(fp4_code(-std::numeric_limits<float>::infinity()) == 15);
  CHECK(fp4_code(std::numeric_limits<float>::quiet_NaN()) == 0);
}

TEST_CASE("an E8M0 code is a power of two") {
  CHECK(e8m0_value(127) == 1);
  CHECK(e8m0_value(0) == 0x1p-127F);
  CHECK(e8m0_value(254) == 0x1p127F);
  CHECK(std::isnan(e8m0_value(255)));
}

TEST_CASE("a block's scale code follows its largest magnitude over 6, rounded up") {
  CHECK(mx_scale_code(6) == 127);
  CHECK(mx_scale_code(3) == 126);
  CHECK(mx_scale_code(6.03125F) == 128);
  CHECK(mx_scale_code(0) == 0);
  CHECK(mx_scale_code(std::numeric_limits<float>::max()) == 253);
  CHECK(mx_scale_code(std::numeric_limits<float>::infinity()) == 254);
  CHECK(mx_scale_code(std::numeric_limits<float>::quiet_NaN()) == 0);
  CHECK(mx_scale_code(0x1p-146F) == 1);
}

TEST_CASE("values are divided by their scale before they are rounded once") {
  CHECK(fp4_scaled_code(6, 127) == 7);
  CHECK(fp4_scaled_code(6, 128) == 5);
  CHECK(fp4_scaled_code(-0.3F, 124) == 8 + 4);                          // -2.4
  CHECK(fp4_scaled_code(std::numeric_limits<float>::max(), 253) == 6);  // just below 4 * 2^126
  CHECK(fp4_scaled_code(0x1p-148F, 0) == 0);
}

TEST_CASE("each block is exact and added with one rounding, blocks in rising k") {
  Random random(kSeed, 0);
  for (const auto& [first, codes] : {std::pair(118U, 5U), std::pair(0U, 255U), std::pair(100U, 60U)}) {
    bool same = true;
    for (int n = 0; n < kVectors; ++n) {
      const Mfma mfma = random_mfma(random, first, codes);
      const MfmaColumn result = mfma.run(MatrixModel::kCdna3);
      for (int row = 0; row < kMfmaRows; ++row) {
        float c = mfma.c[row];
        for (int block = 0; block < kMxMfmaBlocks; ++block)
          c = exact_sum(std::array{static_cast<double>(c), mfma.dot(block, row)});
        same = same && c == result[row];
      }
    }
    CHECK(same);
  }
}

TEST_CASE("the exact model rounds all 128 products once") {
  Random random(kSeed, 1);
  bool same = true;
  for (int n = 0; n < kVectors; ++n) {
    const Mfma mfma = random_mfma(random, 110, 30);
    const MfmaColumn result = mfma.run(MatrixModel::kExact);
    for (int row = 0; row < kMfmaRows; ++row) {
      std::vector<double> terms = {static_cast<double>(mfma.c[row])};
      for (int block = 0; block < kMxMfmaBlocks; ++block) terms.push_back(mfma.dot(block, row));
      same = same && exact_sum(terms) == result[row];
    }
  }
  CHECK(same);
}

TEST_CASE("a scale of 255 makes its row or column NaN") {
  Random random(kSeed, 2);
  Mfma mfma = random_mfma(random, 120, 4);
  mfma.a_code[2][5] = 255;
  const MfmaColumn rows = mfma.run(MatrixModel::kCdna3);
  CHECK(std::isnan(rows[5]));
  CHECK_FALSE(std::isnan(rows[4]));
  mfma.b_code[1] = 255;
  CHECK(std::isnan(mfma.run(MatrixModel::kCdna3)[4]));
}

TEST_CASE("an exact sum of any terms is rounded once") {
  CHECK(exact_sum(std::array{0x1p100, 1.0, -0x1p100}) == 1);
  CHECK(exact_sum(std::array{1.0, 0x1p-24}) == 1);                       // a tie, to even
  CHECK(exact_sum(std::array{1.0, 0x1p-24, 0x1p-300}) == 1 + 0x1p-23F);  // above it
  CHECK(exact_sum(std::array{1.0, 0x1p-24, -0x1p-300}) == 1);
  CHECK(exact_sum(std::array{1.0, 0x1p-23, 0x1p-24, -0x1p-300}) == 1 + 0x1p-23F);
  CHECK(rounded_sum(1.0 + 0x1p-24, 0x1p-60) == 1 + 0x1p-23F);
  CHECK(std::isnan(
      exact_sum(std::array{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()})));
}

}  // namespace
}  // namespace monojit::kernels::reference
