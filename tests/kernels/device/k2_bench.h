#pragma once

#include <cstdint>
#include <string>

#include "tests/kernels/device/k2_group.h"

namespace monojit::tests {

/// Eight ranks with one set of weights for many launches of any shape: filling the weights takes longer than a launch.
/// Tokens pick from every 20th expert only, so that most experts' weights need not be there.
class K2Bench {
 public:
  K2Bench();

  DeviceGroup& group() { return group_; }
  const kernels::kimi_k3::RankMemory& rank(std::size_t number) const { return group_.memory()[number]; }

  /// The rows, blocks, bias and stale words of `seed` for launches of `key`.
  void fill(const kernels::kimi_k3::K2Key& key, std::uint64_t seed);
  /// The rows and blocks alone: scratch and peer buffers stay as launches left them.
  void fill_rows(const kernels::kimi_k3::K2Key& key, std::uint64_t seed);
  /// Launches, and says where the reference's bits disagree.
  std::string disagreement_of(const kernels::kimi_k3::K2Key& key);

 private:
  DeviceGroup group_;
};

}  // namespace monojit::tests
