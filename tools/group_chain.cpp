#include "tools/group_chain.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/kimi_k3/k2/reference/compare.h"
#include "kernels/kimi_k3/k2/reference/generate.h"
#include "kernels/kimi_k3/k2/reference/reference.h"
#include "runtime/group_step.h"
#include "runtime/hip/device_error.h"
#include "tools/group_tensors.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

using namespace kernels::kimi_k3;
using kernels::reference::bf16_bits;
using kernels::reference::bf16_value;
using kernels::reference::BFloat16Bits;

constexpr int kReplaysInFlight = 16;

std::vector<std::pair<std::string, std::int64_t>> place_of(std::int32_t epoch, const PlannedLaunch& launch) {
  return {{"step", epoch}, {"layer", launch.slot - back_slot(0)}};
}

/// A captured step of the plan's launches `first` .. `end` - 1, which are one step's.
std::unique_ptr<runtime::GroupStep> capture(runtime::Jit& jit, const KimiGroup& group,
                                            const std::vector<PlannedLaunch>& plan, std::size_t first,
                                            std::size_t end) {
  auto step = std::make_unique<runtime::GroupStep>(group.peers());
  std::vector<runtime::GroupLayer> layers;
  std::vector<kernels::BuildKey> keys;
  for (std::size_t i = first; i < end; ++i) {
    runtime::GroupLayer& layer = layers.emplace_back(runtime::GroupLayer{plan[i].build, {}});
    for (std::size_t rank = 0; rank < kRanks; ++rank)
      layer.arguments.push_back(group.arguments(rank).set("layer", plan[i].slot));
    keys.push_back(plan[i].build);
  }
  step->prepare(jit, keys);
  step->capture(layers);
  return step;
}

void add_rows(std::span<BFloat16Bits> to, std::span<const BFloat16Bits> from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = bf16_bits(bf16_value(to[i]) + bf16_value(from[i]));
}

void write_block(const K2Key& key, const RankMemory& rank) {
  const auto prefix = rank.of<BFloat16Bits>("prefix");
  const auto blocks = rank.of<BFloat16Bits>("blocks");
  const auto token_pitch = static_cast<std::size_t>(rank.of<std::int32_t>("blk_sm")[0]);
  const auto block_pitch = static_cast<std::size_t>(rank.of<std::int32_t>("blk_sr")[0]);
  for (std::size_t token = 0; token < static_cast<std::size_t>(key.tokens); ++token) {
    const std::size_t place = token * token_pitch + static_cast<std::size_t>(key.nblocks - 1) * block_pitch;
    std::ranges::copy(prefix.subspan(token * kHidden, kHidden), blocks.subspan(place).begin());
  }
}

}  // namespace

GroupChain::GroupChain(runtime::Jit& jit, KimiGroup& group, std::vector<PlannedLaunch> plan, std::uint64_t seed,
                       kernels::reference::MatrixModel model, TimelineTrace& trace)
    : jit_(jit), group_(group), plan_(std::move(plan)), seed_(seed), model_(model), trace_(trace) {
  for (const PlannedLaunch& launch : plan_) watched_.push_back({launch.build, launch.slot});
}

void GroupChain::prepare() {
  for (const PlannedLaunch& launch : plan_) {
    Loaded& loaded = kernels_.emplace_back();
    for (std::size_t rank = 0; rank < kRanks; ++rank) loaded.push_back(jit_.prepare(launch.build, group_.device(rank)));
  }
}

std::size_t GroupChain::begin(std::int32_t epoch, const std::set<std::string>& given) {
  epoch_ = epoch;
  given_ = given;
  group_.set_launch(epoch, plan_.front().slot);
  return fill_experts(plan_.front().key);
}

void GroupChain::begin_again() { epoch_ += steps(); }

std::size_t GroupChain::fill_experts(const K2Key& key) {
  const std::vector<Routing> tokens = routes(key, group_.memory(), model_);
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

void GroupChain::front_half(const K2Key& key) {
  for (int rank = 0; rank < kRanks; ++rank) {
    const RankMemory& tensors = group_.memory()[static_cast<std::size_t>(rank)];
    generate_tensor(key, seed_ + launched_, rank, tensors.view("core"));
    if (key.reduce) add_rows(tensors.of<BFloat16Bits>("prefix"), tensors.of<BFloat16Bits>("out"));
    if (key.reset) write_block(key, tensors);
  }
}

std::optional<LaunchFailure> GroupChain::launch(std::size_t index, bool verify, LaunchResult& result) {
  const PlannedLaunch& planned = plan_[index];
  result.place = place_of(epoch_ + planned.step, planned);
  group_.set_launch(epoch_ + planned.step, planned.slot);
  if (launched_ > 0) {
    front_half(planned.key);
    fill_experts(planned.key);
  }
  ++launched_;
  for (std::size_t rank = 0; rank < kRanks; ++rank) std::ranges::fill(group_.rank(rank).stamps(), 0);
  std::optional<GroupExpectation> expected;
  if (verify) expected.emplace(planned.key, group_.memory(), model_);

  const runtime::EmulatorCounter counter(group_.device(0).hip());
  const Stopwatch watch;
  std::string error;
  try {
    group_.launch(kernels_[index]);
  } catch (const runtime::DeviceError& failed) {
    error = failed.what();
  }
  result.run_ms = watch.ms();
  result.emulator = counter.counts();
  if (trace_.on()) {
    std::vector<std::span<const std::int64_t>> stamps;
    for (std::size_t rank = 0; rank < kRanks; ++rank) stamps.emplace_back(group_.rank(rank).stamps());
    trace_.add(place_text(result.place), stamps, true);
  }
  if (auto failure = failure_of(error)) return failure;
  if (expected) result.outputs = expected->compare(group_.memory());
  return std::nullopt;
}

std::optional<LaunchFailure> GroupChain::replay(int times, LaunchResult& result) {
  std::vector<std::unique_ptr<runtime::GroupStep>> captured;
  for (std::size_t first = 0, end = 0; first < plan_.size(); first = end) {
    while (end < plan_.size() && plan_[end].step == plan_[first].step) ++end;
    captured.push_back(capture(jit_, group_, plan_, first, end));
  }
  group_.set_launch(epoch_ - 1, plan_.front().slot);  // the first step counts it on
  const Stopwatch watch;
  std::string error;
  std::optional<LaunchFailure> failure;
  for (int done = 0; done < times && !failure;) {
    try {
      for (int i = 0; i < kReplaysInFlight && done < times; ++i, ++done) {
        for (const auto& step : captured) step->launch();
      }
      for (const auto& step : captured) step->synchronize();
    } catch (const runtime::DeviceError& failed) {
      error = failed.what();
    }
    failure = failure_of(error);
    result.place = place_of(group_.memory()[0].of<std::int32_t>("epoch")[0], plan_.back());
  }
  result.run_ms = watch.ms();
  epoch_ += times * steps();
  return failure;
}

std::optional<LaunchFailure> GroupChain::failure_of(const std::string& error) const {
  std::optional<std::string> health = group_.explain(watched_);
  if (error.empty() && !health) return std::nullopt;
  return LaunchFailure{.error = error, .health = std::move(health).value_or("")};
}

}  // namespace monojit::tools
