#pragma once

#include <array>
#include <span>
#include <vector>

#include "kernels/kimi_k3/k2/reference/experts.h"
#include "kernels/kimi_k3/k2/reference/wide_residual.h"

namespace monojit::kernels::kimi_k3 {

/// SiTU of the shared expert in double; the slack covers the kernel's own roundings.
WideValue wide_shared_activation(double gate, double up);

/// SiTU of a routed expert; the slack covers the arguments' too.
WideValue wide_expert_activation(const WideValue& gate, const WideValue& up);

/// The 384 activated intermediates of one expert.
std::vector<WideValue> wide_intermediate(const ExpertWeights& weights, int expert,
                                         std::span<const reference::MxColumnBlock> latent);

/// The 3584 latent results of one expert.
std::vector<WideValue> wide_down(const ExpertWeights& weights, int expert,
                                 std::span<const reference::MxColumnBlock> intermediate);

}  // namespace monojit::kernels::kimi_k3
