#include "tools/expert_weights.h"

#include <vector>

#include <fmt/format.h>

#include "kernels/kimi_k3/k2/reference/generate.h"
#include "kernels/kimi_k3/k2/reference/reference.h"
#include "tools/group_tensors.h"

namespace monojit::tools {

using namespace kernels::kimi_k3;

std::size_t ExpertWeights::fill(const K2Key& key, const GroupMemory& memory) {
  return fill(routes(key, memory, model_));
}

std::size_t ExpertWeights::fill(std::span<const Routing> tokens) {
  const std::vector<int> experts = expert_union(tokens);
  std::vector<int> missing;
  for (const int expert : experts) {
    if (filled_.insert(expert).second) missing.push_back(expert);
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    RankMemory to_fill;
    for (const TensorView& view : group_.memory()[static_cast<std::size_t>(rank)].views()) {
      if (is_expert_tensor(view.name) && !given_.contains(fmt::format("rank{}/{}", rank, view.name))) to_fill.add(view);
    }
    generate_experts(seed_, rank, to_fill, missing);
  }
  return experts.size();
}

}  // namespace monojit::tools
