#include "tools/kimi_group.h"

#include <cstring>

#include <fmt/format.h>

#include "kernels/common/error.h"
#include "kernels/common/health.h"
#include "kernels/common/reference/tensors.h"
#include "kernels/kimi_k3/k2/arguments.h"
#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/roles.h"
#include "runtime/health.h"

namespace monojit::tools {
namespace {

using namespace kernels::kimi_k3;

constexpr runtime::PeerSizes kSizes = {
    .scratch = kScratchBytes, .health = kernels::health_bytes(kWorkgroups), .peer = kPeerBytes, .peer_head = kPeerHead};

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
    : peers_(devices_of(table), kSizes) {
  for (const runtime::Device& device : devices_of(table)) ranks_.push_back({device, runtime::Stream(device), {}});
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) place_rank(rank, key);
}

void KimiGroup::place_rank(std::size_t rank, const K2Key& key) {
  const auto shared = [&](std::string_view name) -> void* {
    if (name == "scratch") return peers_.scratch(rank);
    if (name == "health") return peers_.health(rank);
    if (name == "epoch") return peers_.epoch(rank);
    return name == "peer" ? peers_.peer(rank) : nullptr;
  };
  RankMemory& memory = memory_[rank];
  for (const TensorShape& shape : rank_shapes(key)) {
    const std::size_t bytes =
        kernels::reference::element_count(shape.extents) * kernels::reference::element_bytes(shape.dtype);
    void* address = shared(shape.name);
    if (address == nullptr) address = ranks_[rank].tensors.emplace_back(ranks_[rank].device, bytes).address();
    memory.add({std::string(shape.name), shape.dtype, shape.extents, {static_cast<std::byte*>(address), bytes}});
  }
  memory.of<std::int32_t>("rank")[0] = static_cast<std::int32_t>(rank);
  memory.of<std::int32_t>("blk_sr")[0] = kHidden;
  memory.of<std::int32_t>("blk_sm")[0] = kMaxBlocks * kHidden;
}

void KimiGroup::set_launch(std::int32_t epoch, std::int32_t layer) const {
  peers_.set_epoch(epoch);
  for (const RankMemory& memory : memory_) memory.of<std::int32_t>("layer")[0] = layer;
}

std::vector<runtime::ArgumentValue> KimiGroup::arguments(std::size_t rank) const {
  const RankMemory& memory = memory_[rank];
  std::vector<runtime::ArgumentValue> values;
  for (const kernels::Argument& argument : kK2Arguments) {
    if (argument.name == "peers") {
      values.emplace_back(peers_.peer_table(rank));
    } else if (argument.name == "alarm") {
      values.emplace_back(peers_.alarm(rank));
    } else if (argument.type == kernels::ArgumentType::kInt32) {
      values.emplace_back(memory.of<std::int32_t>(argument.name)[0]);
    } else {
      values.emplace_back(memory.view(argument.name).bytes.data());
    }
  }
  return values;
}

void KimiGroup::launch(std::span<const std::shared_ptr<const runtime::LoadedKernel>> kernels) const {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    ranks_[rank].device.select();
    kernels[rank]->launch(arguments(rank), ranks_[rank].stream.get());
  }
  for (const Rank& rank : ranks_) rank.stream.synchronize();
}

std::optional<std::string> KimiGroup::poll_health(
    std::span<const std::shared_ptr<const runtime::LoadedKernel>> kernels) const {
  std::string text;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    ranks_[rank].device.select();
    const auto lines = runtime::poll_health(*kernels[rank], arguments(rank));
    if (!lines) continue;
    std::size_t begin = 0;
    while (begin < lines->size()) {
      const std::size_t end = std::min(lines->find('\n', begin), lines->size());
      text += fmt::format("{}rank {}: {}", text.empty() ? "" : "\n", rank, lines->substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace monojit::tools
