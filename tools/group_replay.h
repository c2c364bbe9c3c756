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
#include "kernels/common/workload.h"
#include "kernels/kimi_k3/k2/reference/hand_offs.h"
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

  /// Fills the experts' weights that the rows pick. If asked for, works out what the launches leave; else nothing is
  /// compared.
  void prepare(ExpertWeights& experts, kernels::reference::MatrixModel model, bool verify);
  void capture(runtime::Jit& jit);

  /// Puts the prefix in place, and NaNs where results are to come.
  void restore();
  /// Behind what the ranks' streams hold already.
  void launch() const;

  using Left = kernels::kimi_k3::ExpectedHandOffs::Left;
  /// What the launches left, the last of them with this epoch, beside the expected: adds to the rows `replays.out` (of
  /// every launch that reduces) and `replays.prefix`, and, where memory that all replays share still holds what the
  /// last launch left there, to `replays.final` (where that is the result) and `replays.hand_offs` (all other regions).
  /// The first difference in words; empty: there is none.
  std::string compare(std::int32_t epoch, std::optional<Left> left, std::vector<kernels::Comparison>& rows) const;

 private:
  using Rows = std::vector<kernels::reference::BFloat16Bits>;
  using OfRanks = std::array<runtime::DeviceBuffer, kernels::kimi_k3::kRanks>;
  struct Result {
    const char* row;  ///< that it counts for
    std::string name;
    std::span<const kernels::reference::BFloat16Bits> found;  ///< where the launches leave it
    Rows expected;
  };

  OfRanks buffers_like(std::string_view tensor) const;
  runtime::GroupLayer layer(std::size_t index) const;
  /// Keeps what launch `index` is to leave.
  void expect(std::size_t index, const kernels::kimi_k3::GroupMemory& before, kernels::reference::MatrixModel model);
  /// The group's memory as launch `index` sees it.
  kernels::kimi_k3::GroupMemory memory(std::size_t index) const;

  const KimiGroup& group_;
  const std::vector<PlannedLaunch>& plan_;
  OfRanks core_, prefix_;
  std::vector<OfRanks> out_;         // one a launch
  std::vector<Rows> prefix_before_;  // one a rank
  std::vector<Result> results_;
  std::optional<kernels::kimi_k3::ExpectedHandOffs> hand_offs_;  // of the last launch
  std::vector<std::unique_ptr<runtime::GroupStep>> steps_;
};

}  // namespace monojit::tools
