#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "kernels/common/reference/matrix_core.h"
#include "kernels/kimi_k3/k2/reference/route.h"
#include "tools/kimi_group.h"

namespace monojit::tools {

/// The experts' weights of a group: those of a seed, made when launches first pick an expert. All of them would be 16
/// GB.
class ExpertWeights {
 public:
  ExpertWeights(const KimiGroup& group, std::uint64_t seed, kernels::reference::MatrixModel model)
      : group_(group), seed_(seed), model_(model) {}

  /// Tensors of experts' weights that stay as they are, as "rank3/w13"; others don't matter.
  void keep(std::set<std::string> given) { given_ = std::move(given); }
  /// Those that a launch of `key` on the rows of `memory` picks; how many experts that is.
  std::size_t fill(const kernels::kimi_k3::K2Key& key, const kernels::kimi_k3::GroupMemory& memory);
  /// Those that tokens pick; likewise.
  std::size_t fill(std::span<const kernels::kimi_k3::Routing> tokens);

 private:
  const KimiGroup& group_;
  std::uint64_t seed_;
  kernels::reference::MatrixModel model_;
  std::set<int> filled_;
  std::set<std::string> given_;
};

}  // namespace monojit::tools
