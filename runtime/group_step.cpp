#include "runtime/group_step.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/hip/device_error.h"

namespace monojit::runtime {
namespace {

/// A step's first launch. The device has to count by itself: a host's counter in a captured copy would be read when the
/// graph runs, and by then the host may have counted on for the next replay.
const kernels::BuildKey& next_epoch() {
  static const kernels::BuildKey key = kernels::BuildKey::parse("common.bump");
  return key;
}

}  // namespace

GroupStep::GroupStep(const PeerGroup& group) : group_(group) {
  for (const PeerRank& rank : group.ranks()) streams_.emplace_back(rank.device());
}

void GroupStep::prepare(Jit& jit, std::span<const kernels::BuildKey> keys) {
  const auto prepare_one = [&](const kernels::BuildKey& key) {
    if (std::ranges::find(kernels_, key, [](const auto& entry) -> const auto& { return entry.first; }) !=
        kernels_.end())
      return;
    Loaded loaded;
    for (const PeerRank& rank : group_.ranks()) loaded.push_back(jit.prepare(key, rank.device()));
    kernels_.emplace_back(key, std::move(loaded));
  };
  prepare_one(next_epoch());
  for (const kernels::BuildKey& key : keys) prepare_one(key);
}

const std::shared_ptr<const LoadedKernel>& GroupStep::kernel(const kernels::BuildKey& key, std::size_t index) const {
  for (const auto& [prepared, loaded] : kernels_) {
    if (prepared == key) return loaded[index];
  }
  throw NotPreparedError(fmt::format("{} is to be launched but was not prepared", key.text()));
}

void GroupStep::capture(std::span<const GroupLayer> layers) {
  std::vector<StepGraph> graphs;
  graphs.reserve(group_.ranks().size());
  for (std::size_t index = 0; index < group_.ranks().size(); ++index) {
    const PeerRank& rank = group_.ranks()[index];
    std::vector<StepLaunch> launches;
    ArgumentValues bump(next_epoch().family());
    rank.fill(bump);
    launches.push_back({kernel(next_epoch(), index), bump.values()});
    for (const GroupLayer& layer : layers) {
      ArgumentValues arguments = layer.arguments.at(index);
      rank.fill(arguments);
      launches.push_back({kernel(layer.key, index), arguments.values()});
    }
    graphs.emplace_back(rank.device(), launches);
  }
  graphs_ = std::move(graphs);
}

void GroupStep::launch() const {
  for (std::size_t index = 0; index < graphs_.size(); ++index) launch(index, stream(index));
}

void GroupStep::launch(std::size_t index, hipStream_t stream) const {
  group_.ranks()[index].device().select();
  graphs_.at(index).launch(stream);
}

void GroupStep::synchronize() const {
  call_all(streams_, [](const Stream& stream) { stream.synchronize(); });
}

}  // namespace monojit::runtime
