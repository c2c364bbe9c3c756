#pragma once

#include <array>
#include <span>
#include <vector>

#include "kernels/kimi_k3/model.h"

namespace monojit::kernels::kimi_k3 {

/// A token's experts, best first, and what their results count.
struct Routing {
  std::array<int, kTopExperts> expert{};
  std::array<float, kTopExperts> weight{};
};

/// Specification §8.8: the 16 largest of sigmoid + bias, NaNs last, ties to the lower id; weights from the sigmoids
/// alone, normalised.
Routing route(std::span<const float> logits, std::span<const float> bias);

/// The step's distinct experts, rising: the one of slot s is element s.
std::vector<int> expert_union(std::span<const Routing> tokens);

}  // namespace monojit::kernels::kimi_k3
