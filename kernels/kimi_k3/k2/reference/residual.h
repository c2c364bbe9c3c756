#pragma once

#include <array>
#include <span>
#include <vector>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/kimi_k3/k2/key.h"
#include "kernels/kimi_k3/k2/layout.h"

namespace monojit::kernels::kimi_k3 {

/// The ranks' values added in the order of the ranks, beginning with rank 0's own: -0 of eight -0.
float rank_sum(const std::array<float, kRanks>& values);

/// Sum over the 56 slices: groups of 7 in order, then the groups in order.
float slice_sum(const std::array<float, kSlices>& values);

/// What AttnRes and the post-attention norm read.
struct ResidualInputs {
  std::span<const reference::BFloat16Bits> delta;   ///< [S][7168]: attention output, summed over ranks
  std::span<const reference::BFloat16Bits> prefix;  ///< [S][7168]; not read with reset
  std::span<const reference::BFloat16Bits> blocks;
  std::int64_t token_stride = 0;  ///< of blocks, elements
  std::int64_t block_stride = 0;
  std::span<const reference::BFloat16Bits> norm_weight;   ///< [7168]
  std::span<const reference::BFloat16Bits> score_weight;  ///< [7168]
  std::span<const reference::BFloat16Bits> in_weight;     ///< [7168]
};

/// What they leave behind, in the order of the scratch regions.
struct ResidualResult {
  std::vector<float> part;  ///< [56][S][NS][2]
  std::vector<float> wgt;   ///< [S][NS + 1]
  std::vector<float> msq;   ///< [56][S]
  std::vector<reference::BFloat16Bits> prefix;
  std::vector<reference::BFloat16Bits> x;
};

/// Specification §8.4 to §8.6.
ResidualResult mix_residual(const K2Key& key, const ResidualInputs& inputs);

}  // namespace monojit::kernels::kimi_k3
