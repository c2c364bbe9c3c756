#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/random.h"
#include "kernels/kimi_k3/k2/reference/addresses.h"
#include "kernels/kimi_k3/k2/reference/experts.h"

namespace monojit::kernels::kimi_k3 {
namespace {

using reference::bf16_bits;
using reference::BFloat16Bits;
using reference::MatrixModel;

constexpr std::uint64_t kSeed = 4;

/// Two experts' weights, zero at first.
struct Weights {
  std::vector<std::uint8_t> w13 = std::vector<std::uint8_t>(2 * kGateUpMatrix.weight_bytes());
  std::vector<std::uint8_t> w13s = std::vector<std::uint8_t>(2 * kGateUpMatrix.scale_bytes(), 127);
  std::vector<std::uint8_t> w2 = std::vector<std::uint8_t>(2 * kDownMatrix.weight_bytes());
  std::vector<std::uint8_t> w2s = std::vector<std::uint8_t>(2 * kDownMatrix.scale_bytes(), 127);

  ExpertWeights views() const { return {w13, w13s, w2, w2s}; }
  void set13(int expert, int row, int column, unsigned code) { set(w13, kGateUpMatrix, expert, row, column, code); }
  void set2(int expert, int row, int column, unsigned code) { set(w2, kDownMatrix, expert, row, column, code); }

 private:
  static void set(std::vector<std::uint8_t>& bytes, const ExpertMatrix& matrix, int expert, int row, int column,
                  unsigned code) {
    const std::int64_t byte = expert * matrix.weight_bytes() + matrix.weight_byte(row, column);
    bytes[static_cast<std::size_t>(byte)] |= static_cast<std::uint8_t>(column % 2 == 0 ? code : code << 4);
  }
};

constexpr unsigned kOne = 2;
constexpr unsigned kSix = 7;
constexpr unsigned kMinusHalf = 9;

TEST_CASE("a latent block's scale is the least power of two that takes its largest value") {
  std::vector<BFloat16Bits> row(kLatent, 0);
  row[0] = bf16_bits(6);
  row[32] = bf16_bits(-3);
  row[64] = bf16_bits(6.03125F);
  row[96] = 1;        // the least denormal
  row[128] = 0x7F7F;  // the largest finite
  row[160] = 0x7F80;  // infinity
  row[192] = 0x7FC0;
  const MxRow quantised = quantise_latent(row);
  CHECK(quantised.codes[0] == 127);
  CHECK(quantised.codes[1] == 126);
  CHECK(quantised.codes[2] == 128);
  CHECK(quantised.codes[3] >= 1);
  CHECK(quantised.codes[4] == 253);
  CHECK(quantised.codes[5] == 254);
  CHECK(quantised.codes[6] == 0);
  CHECK(quantised.codes[7] == 0);
  CHECK(quantised.value(0) == 6);
  CHECK(quantised.value(32) == -3);
  CHECK(quantised.value(64) == 6);
  CHECK(quantised.words[28] == 0);
}

TEST_CASE("values stand in a word with the first in the lowest nibble") {
  std::vector<BFloat16Bits> row(kLatent, 0);
  const float values[8] = {0.5F, 1, 1.5F, 2, 3, 4, 6, -6};
  for (std::size_t i = 0; i < 8; ++i) row[i] = bf16_bits(values[i]);
  CHECK(quantise_latent(row).words[0] == 0xF7654321U);
}

TEST_CASE("an fp32 maximum that its sixth rounds to nothing gives code 0 and zeros") {
  std::vector<float> row(kIntermediate, 0);
  row[0] = 0x1p-148F;
  row[32] = std::numeric_limits<float>::max();
  row[64] = std::numeric_limits<float>::quiet_NaN();
  const MxRow quantised = quantise_intermediate(row);
  CHECK(quantised.codes[0] == 0);
  CHECK(quantised.words[0] == 0);
  CHECK(quantised.codes[1] == 253);
  CHECK(quantised.codes[2] == 0);
}

TEST_CASE("gate rows come first, up rows behind them, each column meets its own row") {
  Weights weights;
  weights.set13(1, 5, 100, kSix);
  weights.set13(1, kIntermediate + 5, 3583, kMinusHalf);
  std::vector<BFloat16Bits> row(kLatent, 0);
  row[100] = bf16_bits(2);
  row[3583] = bf16_bits(4);
  const GateUp result = gate_up(MatrixModel::kCdna3, weights.views(), 1, quantise_latent(row).blocks());
  CHECK(result.gate[5] == 12);
  CHECK(result.up[5] == -2);
  CHECK(std::ranges::count(result.gate, 0.0F) == kIntermediate - 1);
  const GateUp other = gate_up(MatrixModel::kCdna3, weights.views(), 0, quantise_latent(row).blocks());
  CHECK(std::ranges::count(other.gate, 0.0F) == kIntermediate);
}

TEST_CASE("a scale counts for the 32 columns of its row alone") {
  Weights weights;
  weights.set13(0, 17, 64, kOne);
  weights.set13(0, 17, 96, kOne);
  weights.set13(0, 18, 64, kOne);
  weights.w13s[static_cast<std::size_t>(kGateUpMatrix.scale_byte(17, 2))] = 130;
  std::vector<BFloat16Bits> row(kLatent, 0);
  row[64] = bf16_bits(1);
  row[96] = bf16_bits(1);
  const GateUp result = gate_up(MatrixModel::kCdna3, weights.views(), 0, quantise_latent(row).blocks());
  CHECK(result.gate[17] == 8 + 1);
  CHECK(result.gate[18] == 1);
}

TEST_CASE("the undefined scales of w2 are never used") {
  Weights weights;
  weights.set2(1, 3583, 383, kSix);
  for (int block = kIntermediateBlocks; block < kScaleColumns2; ++block) {
    for (int row = 0; row < kLatent; ++row) {
      weights.w2s[static_cast<std::size_t>(kDownMatrix.scale_bytes() + kDownMatrix.scale_byte(row, block))] = 255;
    }
  }
  std::vector<float> row(kIntermediate, 0);
  row[383] = 3;
  const auto result = down(MatrixModel::kCdna3, weights.views(), 1, quantise_intermediate(row).blocks());
  CHECK(result[3583] == 18);
  CHECK(std::ranges::count(result, 0.0F) == kLatent - 1);
}

TEST_CASE("the two halves of gate and up are summed apart") {
  // 2^24 in the first half absorbs every single 1 behind it, but not the second half's sum of them.
  Weights weights;
  weights.set13(0, 0, 0, kOne);
  weights.w13s[static_cast<std::size_t>(kGateUpMatrix.scale_byte(0, 0))] = 127 + 24;
  for (const int column : {32, 64, kLatent / 2, kLatent / 2 + 32}) weights.set13(0, 0, column, kOne);
  std::vector<BFloat16Bits> row(kLatent, 0);
  for (const std::size_t column : {0, 32, 64, kLatent / 2, kLatent / 2 + 32}) row[column] = bf16_bits(1);
  const GateUp result = gate_up(MatrixModel::kCdna3, weights.views(), 0, quantise_latent(row).blocks());
  CHECK(result.gate[0] == 0x1p24F + 2);
}

TEST_CASE("every model of the matrix core agrees where sums are exact") {
  Weights weights;
  reference::Random random(kSeed, 0);
  for (std::uint8_t& byte : weights.w13) byte = static_cast<std::uint8_t>(random.bits());
  std::vector<BFloat16Bits> row(kLatent);
  for (BFloat16Bits& bits : row) bits = bf16_bits(static_cast<float>(random.below(7)) - 3);
  const auto latent = quantise_latent(row).blocks();
  const GateUp expected = gate_up(MatrixModel::kCdna3, weights.views(), 0, latent);
  for (const MatrixModel model : {MatrixModel::kFmaChain, MatrixModel::kExact}) {
    const GateUp result = gate_up(model, weights.views(), 0, latent);
    CHECK(result.gate == expected.gate);
    CHECK(result.up == expected.up);
  }
  // By the values themselves, from a decoder of its own.
  constexpr double kValues[16] = {0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6};
  for (const int n : {0, 1, 15, 16, 383}) {
    double sum = 0;
    for (int k = 0; k < kLatent; ++k) {
      const unsigned byte = weights.w13[static_cast<std::size_t>(kGateUpMatrix.weight_byte(n, k))];
      sum += kValues[k % 2 == 0 ? byte & 15U : byte >> 4] *
             static_cast<double>(reference::bf16_value(row[static_cast<std::size_t>(k)]));
    }
    CHECK(static_cast<double>(expected.gate[static_cast<std::size_t>(n)]) == sum);
  }
}

}  // namespace
}  // namespace monojit::kernels::kimi_k3
