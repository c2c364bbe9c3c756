#include "kernels/kimi_k3/k2/reference/route.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "kernels/kimi_k3/k2/reference/activation.h"

namespace monojit::kernels::kimi_k3 {
namespace {

constexpr float kLast = std::bit_cast<float>(0xFF61B1E6U);  // -3e38: below every other score

/// Floats in their order, -0 below +0.
std::uint32_t order_key(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits >> 31) != 0 ? ~bits : bits ^ 0x80000000U;
}

}  // namespace

Routing route(std::span<const float> logits, std::span<const float> bias) {
  std::array<float, kExperts> weight{};
  std::array<std::uint32_t, kExperts> key{};
  for (std::size_t e = 0; e < kExperts; ++e) {
    const float sig = sigmoid(logits[e]);
    const float score = sig + bias[e];
    key[e] = order_key(std::isnan(score) ? kLast : score);
    weight[e] = std::isnan(sig) ? 0 : sig;
  }
  std::array<int, kExperts> order{};
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int a, int b) { return key[a] > key[b]; });
  Routing result;
  float total = 0;
  for (std::size_t k = 0; k < kTopExperts; ++k) {
    result.expert[k] = order[k];
    total = total + weight[order[k]];
  }
  const float inverse = 1 / total;
  for (std::size_t k = 0; k < kTopExperts; ++k) result.weight[k] = weight[result.expert[k]] * inverse;
  return result;
}

std::vector<int> expert_union(std::span<const Routing> tokens) {
  std::array<bool, kExperts> picked{};
  for (const Routing& token : tokens) {
    for (const int expert : token.expert) picked[expert] = true;
  }
  std::vector<int> result;
  for (int e = 0; e < kExperts; ++e) {
    if (picked[e]) result.push_back(e);
  }
  return result;
}

}  // namespace monojit::kernels::kimi_k3
