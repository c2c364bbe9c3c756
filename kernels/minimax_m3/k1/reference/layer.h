#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/workload.h"
#include "kernels/minimax_m3/k1/key.h"

namespace monojit::kernels::minimax_m3 {

/// Launch after launch on one scratch: the layer moves on, behind the last one the step; h_out becomes res.
Advance next_layer(const std::vector<Tensor>& tensors);

/// Step and layer.
std::vector<std::pair<std::string, std::int64_t>> layer_place(const std::vector<Tensor>& tensors);

/// Bytes of projection weights with their scales, and of norm weights. The other ranks' index queries count only where
/// a long request has them projected.
std::int64_t least_weight_bytes(const K1Key& key, const std::vector<Tensor>& tensors);

}  // namespace monojit::kernels::minimax_m3
