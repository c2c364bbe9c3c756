#include "tools/kimi_group.h"

#include <cstddef>

#include <fmt/format.h>

#include "kernels/common/error.h"
#include "kernels/common/reference/tensors.h"
#include "runtime/fail_stop.h"
#include "runtime/hip/device_error.h"

namespace monojit::tools {
namespace {

using namespace kernels::kimi_k3;

std::vector<runtime::Device> devices_of(const std::shared_ptr<const runtime::HipTable>& table) {
  const int count = runtime::device_count(*table);
  if (count < kRanks) {
    throw UserError(fmt::format("kimi_k3.k2 runs on {} devices, but there are {}: set MONOJIT_EMULATOR_DEVICES={}",
                                kRanks, count, kRanks));
  }
  std::vector<runtime::Device> devices;
  for (int rank = 0; rank < kRanks; ++rank) devices.push_back(runtime::Device::at(table, rank));
  return devices;
}

}  // namespace

KimiGroup::KimiGroup(const std::shared_ptr<const runtime::HipTable>& table, const K2Key& key)
    : peers_(runtime::PeerGroup::in_process(devices_of(table), kK2.peer_state(build_key(key)))) {
  for (const runtime::PeerRank& peers : peers_.ranks()) {
    const KimiRank& rank = ranks_.emplace_back(peers, key);
    RankMemory& memory = memory_[static_cast<std::size_t>(peers.rank())];
    memory = rank.memory();
    memory.of<std::int32_t>("rank")[0] = peers.rank();
    memory.of<std::int32_t>("blk_sr")[0] = kHidden;
    memory.of<std::int32_t>("blk_sm")[0] = kMaxBlocks * kHidden;
  }
}

void KimiGroup::set_shape(const K2Key& key) {
  for (RankMemory& memory : memory_) {
    for (const TensorShape& shape : rank_shapes(key)) {
      TensorView& view = memory.view(shape.name);
      const std::size_t bytes =
          kernels::reference::element_count(shape.extents) * kernels::reference::element_bytes(shape.dtype);
      view.shape = shape.extents;
      view.bytes = {view.bytes.data(), bytes};
    }
  }
}

void KimiGroup::launch(std::span<const std::shared_ptr<const runtime::LoadedKernel>> kernels) const {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    device(rank).select();
    kernels[rank]->launch(arguments(rank).values(), ranks_[rank].stream());
  }
  synchronize();
}

void KimiGroup::synchronize() const {
  runtime::call_all(ranks_, [](const KimiRank& rank) { rank.synchronize(); });
}

std::vector<std::vector<std::uint32_t>> KimiGroup::health() const {
  std::vector<std::vector<std::uint32_t>> words;
  for (const runtime::PeerRank& rank : peers_.ranks()) words.push_back(runtime::read_health(rank));
  return words;
}

std::optional<std::string> KimiGroup::explain(std::span<const runtime::WatchedLaunch> launches,
                                              const runtime::LaunchFacts& facts) const {
  return runtime::explain_group(health(), runtime::read_alarms(peers_.ranks().front()), launches, facts);
}

}  // namespace monojit::tools
