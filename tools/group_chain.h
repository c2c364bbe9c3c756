#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/reference/matrix_core.h"
#include "runtime/jit.h"
#include "tools/expert_weights.h"
#include "tools/group_plan.h"
#include "tools/group_replay.h"
#include "tools/kimi_group.h"
#include "tools/launch_chain.h"
#include "tools/replay_result.h"
#include "tools/timeline_trace.h"

namespace monojit::tools {

/// Launches of a group as an engine makes them: step after step, layer after layer, on the same buffers, nothing
/// cleared between. Between two launches made one by one it does what the front half of a layer would: new attention
/// outputs, the layer's result added to the prefix, the prefix written to the bank before a layer that opens a block.
class GroupChain {
 public:
  /// `plan`: the launches of one time. All but `plan` must outlive this.
  GroupChain(runtime::Jit& jit, KimiGroup& group, std::vector<PlannedLaunch> plan, std::uint64_t seed,
             kernels::reference::MatrixModel model, TimelineTrace& trace);

  /// Builds all kernels and loads them on every rank.
  void prepare();
  /// Of the first launch on rank 0.
  const runtime::LoadedKernel& first_kernel() const { return *kernels_.front().front(); }

  /// Puts the epoch of the first launch, which begins with the next call, and the experts' weights that it wants.
  /// `given`: tensors that are to stay, as "rank3/w13". Returns how many experts the tokens pick.
  std::size_t begin(std::int32_t epoch, const std::set<std::string>& given);

  /// Launch `index` of the plan, waited for and, if asked for, compared with the reference on what it really saw. What
  /// went wrong; nothing: `result` is whole.
  std::optional<LaunchFailure> launch(std::size_t index, bool verify, LaunchResult& result);
  /// To be called behind the last launch of the plan: the next one is the first, in the next step.
  void begin_again();
  /// The plan up to `times` times as captured steps: the device counts the epoch, nothing happens between layers. Some
  /// are on their way together, on rows of their own that differ. Says on stderr now and then how far it is. If asked
  /// for, compares what each replay leaves with the reference, and ends with the first ones that are wrong. Ends early,
  /// too, once it is interrupted.
  std::optional<LaunchFailure> replay(int times, bool verify, ReplayResult& result);

 private:
  using Loaded = std::vector<std::shared_ptr<const runtime::LoadedKernel>>;  // one a rank

  void front_half(const kernels::kimi_k3::K2Key& key);
  int replays_in_flight() const;
  std::deque<GroupReplay> replays(int count, bool verify);
  std::optional<LaunchFailure> replay_together(std::deque<GroupReplay>& replays, std::size_t count,
                                               ReplayResult& result);
  std::int32_t latest_epoch() const;
  std::optional<LaunchFailure> failure_of(const std::string& error) const;
  std::int32_t steps() const { return plan_.back().step + 1; }

  runtime::Jit& jit_;
  KimiGroup& group_;
  const std::vector<PlannedLaunch> plan_;
  std::uint64_t seed_;
  kernels::reference::MatrixModel model_;
  TimelineTrace& trace_;
  std::vector<Loaded> kernels_;  // one a launch
  std::vector<runtime::WatchedLaunch> watched_;
  ExpertWeights experts_;
  std::int32_t epoch_ = 0;      // of the plan's first step
  std::uint64_t launched_ = 0;  // one by one
};

}  // namespace monojit::tools
