#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/fp8.h"
#include "kernels/common/reference/matrix_core_bf16.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/chip.h"

namespace monojit::kernels::minimax_m3 {

/// rn(sm_scale * log2 e), in f32: what every score is multiplied by.
float index_scale(float sm_scale);

/// One index query of one row, and the keys that the row sees.
struct IndexQuery {
  std::vector<reference::BFloat16Bits> dims;  ///< [128]
  std::int64_t keys = 1;
};

/// Scores blocks of one request's keys for its queries.
class BlockScorer {
 public:
  BlockScorer(std::span<const IndexQuery> queries, const Chip& chip, reference::MatrixModel model);

  /// For each query: the largest dot product with a visible key of block number `block` (specification §8.5), -inf when
  /// there is none, NaN when a visible key or the query holds one. `keys` are the block's 128 * 128 bytes in the index
  /// cache.
  std::vector<float> maxima(std::span<const std::uint8_t> keys, std::int64_t block);

 private:
  static constexpr int kDimChunks = kHeadDim / reference::kMfmaK;  // MFMAs of a tile of 16 keys
  static constexpr int kTiles = kBlock / reference::kMfmaRows;

  struct Query {
    std::array<reference::BFloat16Column, kDimChunks> chunks;
    std::array<reference::BFloat16Range, kDimChunks> ranges;
    std::int64_t keys = 1;
  };

  void decode(std::span<const std::uint8_t> keys);
  reference::MfmaColumn dots(int tile, const Query& query) const;
  float maximum(const Query& query, std::int64_t visible) const;

  Chip chip_;
  reference::MatrixModel model_;
  std::vector<Query> queries_;
  std::array<std::array<reference::BFloat16Rows, kDimChunks>, kTiles> operands_{};
  std::array<bool, kBlock> nan_keys_{};
};

/// An order-free score: the interval that the largest dot product lies in, each product sum with its bound, and its
/// middle.
struct WideScore {
  double value = 0;
  double low = 0;
  double high = 0;
};
std::vector<WideScore> wide_block_maxima(std::span<const std::uint8_t> keys, std::int64_t block,
                                         std::span<const IndexQuery> queries, reference::Fp8Format format);

/// How far a dot product may be from the exact one, in units of the sum of its products' magnitudes (§8.5).
inline constexpr double kScoreBound = 0x1p-17;

}  // namespace monojit::kernels::minimax_m3
