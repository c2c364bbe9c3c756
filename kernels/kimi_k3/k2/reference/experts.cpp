#include "kernels/kimi_k3/k2/reference/experts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

#include "kernels/common/reference/float32.h"
#include "kernels/kimi_k3/k2/reference/addresses.h"

namespace monojit::kernels::kimi_k3 {
namespace {

using reference::MatrixModel;
using reference::MfmaColumn;
using reference::MxColumnBlock;
using reference::MxRows;

/// The weights of one expert.
struct Matrix {
  const ExpertMatrix& shape;
  const std::uint8_t* weights;
  const std::uint8_t* scales;

  Matrix(const ExpertMatrix& matrix, std::span<const std::uint8_t> all_weights,
         std::span<const std::uint8_t> all_scales, int expert)
      : shape(matrix),
        weights(all_weights.data() + expert * matrix.weight_bytes()),
        scales(all_scales.data() + expert * matrix.scale_bytes()) {}

  MxRows tile(int row_group, int step) const {
    MxRows rows{.tile = weights + shape.tile_byte(row_group, step)};
    for (int block = 0; block < reference::kMxMfmaBlocks; ++block) {
      const std::int64_t first = shape.scale_byte(kTileRows * row_group, reference::kMxMfmaBlocks * step + block);
      for (int row = 0; row < kTileRows; ++row) rows.code[block][row] = scales[first + 4 * row];
    }
    return rows;
  }

  /// Rows 16 row_group .. over steps first .. first + count - 1, from zero.
  MfmaColumn sum(MatrixModel model, std::span<const MxColumnBlock> column, int row_group, int first, int count) const {
    MfmaColumn c{};
    for (int step = first; step < first + count; ++step) {
      mfma_mx(model, tile(row_group, step), &column[static_cast<std::size_t>(step) * reference::kMxMfmaBlocks], c);
    }
    return c;
  }
};

constexpr int kLatentSteps = kLatent / kTileColumns;              // 28, in two halves on two waves
constexpr int kIntermediateSteps = kIntermediate / kTileColumns;  // 3

void append_block(MxRow& row, std::span<const float> values, float amax) {
  const unsigned code = reference::mx_scale_code(amax);
  for (std::size_t first = 0; first < values.size(); first += kFp4WordValues) {
    std::uint32_t word = 0;
    for (unsigned i = 0; i < kFp4WordValues; ++i)
      word |= reference::fp4_scaled_code(values[first + i], code) << (4 * i);
    row.words.push_back(word);
  }
  row.codes.push_back(static_cast<std::uint8_t>(code));
}

}  // namespace

std::vector<MxColumnBlock> MxRow::blocks() const {
  constexpr std::size_t kBlockWords = kMxBlock / kFp4WordValues;
  std::vector<MxColumnBlock> result(codes.size());
  for (std::size_t b = 0; b < codes.size(); ++b) result[b].load(&words[b * kBlockWords], codes[b]);
  return result;
}

float MxRow::value(std::size_t i) const {
  const unsigned code = words[i / kFp4WordValues] >> (4 * (i % kFp4WordValues)) & 15U;
  return reference::fp4_value(code) * reference::e8m0_value(codes[i / kMxBlock]);
}

MxRow quantise_latent(std::span<const reference::BFloat16Bits> row) {
  MxRow result;
  for (std::size_t first = 0; first < row.size(); first += kMxBlock) {
    std::array<float, kMxBlock> values{};
    int largest = 0;  // of the bits without sign: a NaN is above everything
    for (std::size_t i = 0; i < kMxBlock; ++i) {
      values[i] = reference::bf16_value(row[first + i]);
      largest = std::max(largest, row[first + i] & 0x7FFF);
    }
    append_block(result, values, reference::bf16_value(static_cast<reference::BFloat16Bits>(largest)));
  }
  return result;
}

MxRow quantise_intermediate(std::span<const float> row) {
  MxRow result;
  for (std::size_t first = 0; first < row.size(); first += kMxBlock) {
    const auto values = row.subspan(first, kMxBlock);
    float largest = 0;
    for (const float value : values) largest = reference::maximum(largest, std::fabs(value));
    append_block(result, values, largest);
  }
  return result;
}

GateUp gate_up(MatrixModel model, const ExpertWeights& weights, int expert, std::span<const MxColumnBlock> latent) {
  const Matrix matrix(kGateUpMatrix, weights.w13, weights.w13s, expert);
  GateUp result;
  for (int row_group = 0; row_group < kGateUpMatrix.rows / kTileRows; ++row_group) {
    const MfmaColumn low = matrix.sum(model, latent, row_group, 0, kLatentSteps / 2);
    const MfmaColumn high = matrix.sum(model, latent, row_group, kLatentSteps / 2, kLatentSteps / 2);
    for (int row = 0; row < kTileRows; ++row) {
      const int n = row_group * kTileRows + row;
      const float value = (0.0F + low[row]) + high[row];
      (n < kIntermediate ? result.gate[n] : result.up[n - kIntermediate]) = value;
    }
  }
  return result;
}

std::array<float, kLatent> down(MatrixModel model, const ExpertWeights& weights, int expert,
                                std::span<const MxColumnBlock> intermediate) {
  const Matrix matrix(kDownMatrix, weights.w2, weights.w2s, expert);
  std::array<float, kLatent> result{};
  for (int row_group = 0; row_group < kLatent / kTileRows; ++row_group) {
    const MfmaColumn sum = matrix.sum(model, intermediate, row_group, 0, kIntermediateSteps);
    std::ranges::copy(sum, &result[static_cast<std::size_t>(row_group) * kTileRows]);
  }
  return result;
}

}  // namespace monojit::kernels::kimi_k3
