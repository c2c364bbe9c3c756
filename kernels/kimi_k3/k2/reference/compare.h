#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernels/common/reference/matrix_core.h"
#include "kernels/common/workload.h"
#include "kernels/kimi_k3/k2/reference/reference.h"
#include "kernels/kimi_k3/k2/reference/wide.h"

namespace monojit::kernels::kimi_k3 {

/// The written tensors of a group, copied from its memory.
GroupResult read_results(const GroupMemory& memory);

/// What a launch must leave behind. Made from the memory before the launch, which may then run in place: weights are
/// read where they are and not copied.
class GroupExpectation {
 public:
  GroupExpectation(const K2Key& key, const GroupMemory& before,
                   reference::MatrixModel model = reference::MatrixModel::kCdna3);

  const GroupResult& results() const { return results_; }

  /// Whether every byte that was to be written or to stay is as expected (experts' weights aren't looked at), and all
  /// health words are 0. False where only NaNs differ, which compare() lets pass.
  bool is_exactly(const GroupMemory& after) const;

  /// Rows over all ranks together: prefix, out, each region of the scratch and of the peer half by its name (for pairs
  /// the elements are 32-bit words, values and tags), `scratch` and `peer` for the words outside of them, `inputs` for
  /// the tensors that are only read (experts' weights left out), `health` for words that are not 0. max_error and bound
  /// are those of check_wide() on what the launch left.
  std::vector<Comparison> compare(const GroupMemory& after) const;

  /// For every rank and region that differs a line: how many words, and the first one with its indices, the value found
  /// and the one expected. None when all is right.
  std::vector<std::string> differences(const GroupMemory& after) const;

 private:
  const K2Key key_;
  std::array<std::vector<reference::BFloat16Bits>, kRanks> prefix_before_;
  std::array<std::uint64_t, kRanks> inputs_digest_{};
  GroupResult results_;
};

}  // namespace monojit::kernels::kimi_k3
