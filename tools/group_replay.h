#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/matrix_core.h"
#include "runtime/group_step.h"
#include "runtime/hip/buffer.h"
#include "tools/expert_weights.h"
#include "tools/group_plan.h"
#include "tools/kimi_group.h"

namespace monojit::tools {

/// A plan's launches as captured steps, on rows and results of their own: several of these can be on their way together
/// and each one's results be looked at afterwards. Scratch, peer buffers, weights and blocks are the group's.
class GroupReplay {
 public:
  /// With attention outputs and a prefix of `seed`, or, where it is none, a copy of those in the group's memory.
  /// `group` and `plan` must outlive this.
  GroupReplay(const KimiGroup& group, const std::vector<PlannedLaunch>& plan, std::optional<std::uint64_t> seed);

  /// Fills the experts' weights that the rows pick and works out what the launches leave. Without it no value counts as
  /// wrong.
  void expect(ExpertWeights& experts, kernels::reference::MatrixModel model);
  void capture(runtime::Jit& jit);

  /// Puts the prefix in place, and NaNs where results are to come.
  void restore();
  /// Behind what the ranks' streams hold already.
  void launch() const;

  /// How many of the values that the launches left are not the expected ones; `first` then tells of one.
  std::size_t mismatches(std::string& first) const;
  /// How many values mismatches() looks at.
  std::size_t values() const;

 private:
  using Rows = std::vector<kernels::reference::BFloat16Bits>;
  using OfRanks = std::array<runtime::DeviceBuffer, kernels::kimi_k3::kRanks>;
  struct Result {
    std::string name;
    std::span<const kernels::reference::BFloat16Bits> found;  ///< where the launches leave it
    Rows expected;
  };

  OfRanks buffers_like(std::string_view tensor) const;
  runtime::GroupLayer layer(std::size_t index) const;
  /// The group's memory as launch `index` sees it.
  kernels::kimi_k3::GroupMemory memory(std::size_t index) const;

  const KimiGroup& group_;
  const std::vector<PlannedLaunch>& plan_;
  OfRanks core_, prefix_;
  std::vector<OfRanks> out_;         // one a launch
  std::vector<Rows> prefix_before_;  // one a rank
  std::vector<Result> results_;
  std::vector<std::unique_ptr<runtime::GroupStep>> steps_;
};

}  // namespace monojit::tools
