#include "kernels/minimax_m3/k1/reference/projection.h"

#include <array>
#include <cstddef>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/addresses.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::Fp8Column;
using reference::Fp8Rows;
using reference::Fp8Table;
using reference::MfmaColumn;

constexpr int kHalves = 2;  // MFMAs a chunk
constexpr int kMfmas = kChunks * kHalves;
constexpr int kLaneGroups = 4;
constexpr int kLaneBytes = 8;  // of an operand

/// The input that MFMA `half` of a chunk takes as its k number 8 * lane group + byte.
constexpr int model_k(int chunk, int half, int group, int byte) {
  return kChunk * chunk + 16 * group + kLaneBytes * half + byte;
}

/// The columns of one token: MFMA (chunk, half) at 2 * chunk + half.
std::vector<Fp8Column> decode_token(const QuantisedRow& token, const Fp8Table& table) {
  std::vector<Fp8Column> columns(kMfmas);
  for (int mfma = 0; mfma < kMfmas; ++mfma) {
    for (int k = 0; k < reference::kMfmaK; ++k) {
      const int input = model_k(mfma / kHalves, mfma % kHalves, k / kLaneBytes, k % kLaneBytes);
      columns[mfma].set(k, token.bytes[input], table);
    }
  }
  return columns;
}

void decode_weights(std::span<const std::uint8_t> weight, int row_group, int mfma, const Fp8Table& table,
                    Fp8Rows& rows) {
  for (int group = 0; group < kLaneGroups; ++group) {
    const int k = model_k(mfma / kHalves, mfma % kHalves, group, 0);
    for (int row = 0; row < kRowsPerTask; ++row) {
      const auto bytes = weight.subspan(weight_byte(row_group * kRowsPerTask + row, k), kLaneBytes);
      for (int byte = 0; byte < kLaneBytes; ++byte) rows.set(kLaneBytes * group + byte, row, bytes[byte], table);
    }
  }
}

}  // namespace

std::vector<float> project(std::span<const std::uint8_t> weight, std::span<const float> scale,
                           std::span<const QuantisedRow> tokens, reference::Fp8Format format,
                           reference::MatrixModel model) {
  const Fp8Table& table = reference::fp8_table(format);
  std::vector<std::vector<Fp8Column>> columns;
  for (const QuantisedRow& token : tokens) columns.push_back(decode_token(token, table));

  const std::size_t rows = scale.size();
  std::vector<float> result(tokens.size() * rows);
  Fp8Rows operand;
  for (int row_group = 0; row_group * kRowsPerTask < static_cast<int>(rows); ++row_group) {
    std::vector<MfmaColumn> sums(tokens.size(), MfmaColumn{});
    for (int wave = 0; wave < kWaves; ++wave) {
      std::vector<MfmaColumn> partials(tokens.size(), MfmaColumn{});
      for (int i = 0; i < kMfmas / kWaves; ++i) {
        const int mfma = wave * (kMfmas / kWaves) + i;
        decode_weights(weight, row_group, mfma, table, operand);
        for (std::size_t t = 0; t < tokens.size(); ++t) mfma_fp8(model, operand, columns[t][mfma], partials[t]);
      }
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        for (int row = 0; row < kRowsPerTask; ++row) sums[t][row] = sums[t][row] + partials[t][row];
      }
    }
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      for (int row = 0; row < kRowsPerTask; ++row) {
        const std::size_t n = static_cast<std::size_t>(row_group) * kRowsPerTask + row;
        result[t * rows + n] = reference::round_bf16((sums[t][row] * tokens[t].scale) * scale[n]);
      }
    }
  }
  return result;
}

std::vector<RowRange> projected_rows(const K1Key& key, bool long_step) {
  if (key.index_heads == 1 || long_step) return {{0, projection_rows(key.index_heads)}};
  return {{0, index_q_head(0) * kHeadDim},
          {index_q_head(key.index_own) * kHeadDim, kHeadDim},
          {index_k_head(key.index_heads) * kHeadDim, kHeadDim}};
}

}  // namespace monojit::kernels::minimax_m3
