#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/minimax_m3/k1/key.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/chip.h"

namespace monojit::kernels::minimax_m3 {

using HeadVector = std::array<float, kHeadDim>;

/// Norm of one head and rotation of its first 64 dims (specification §7.2). `gamma` [128], `cos_sin` [64] of the
/// position.
HeadVector norm_and_rotate(std::span<const float> head, std::span<const reference::BFloat16Bits> gamma,
                           std::span<const reference::BFloat16Bits> cos_sin, float eps);

/// FP8 bytes of one head and the scale that they need (specification §7.4).
struct CacheRow {
  std::array<std::uint8_t, kHeadDim> bytes{};
  float scale = 1;
};

/// `scalar` is the scale that kScalarRead takes from memory.
CacheRow k_cache_row(const HeadVector& k, KvScale mode, float scalar, bool saturate, const Chip& chip);
CacheRow v_cache_row(std::span<const float> v, KvScale mode, float scalar, bool saturate, const Chip& chip);
CacheRow index_cache_row(const HeadVector& index_k, bool saturate, const Chip& chip);

}  // namespace monojit::kernels::minimax_m3
