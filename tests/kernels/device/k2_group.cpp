#include "tests/kernels/device/k2_group.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "kernels/common/reference/tensors.h"
#include "kernels/kimi_k3/k2/arguments.h"
#include "kernels/kimi_k3/k2/key.h"
#include "kernels/kimi_k3/k2/layout.h"
#include "runtime/jit.h"

namespace monojit::tests {

namespace {

using namespace kernels::kimi_k3;

kernels::BuildKey build_key(const K2Key& key) {
  return kernels::BuildKey::from_values(kK2, {{"tokens", key.tokens},
                                              {"nblocks", key.nblocks},
                                              {"eps", std::bit_cast<std::uint32_t>(key.eps)},
                                              {"out_eps", std::bit_cast<std::uint32_t>(key.out_eps)},
                                              {"ln_eps", std::bit_cast<std::uint32_t>(key.ln_eps)},
                                              {"reduce", key.reduce},
                                              {"reset", key.reset},
                                              {"fault_rank", key.fault_rank},
                                              {"fault_epoch", key.fault_epoch},
                                              {"fault_layer", key.fault_layer},
                                              {"fault_ticks", key.fault_ticks}});
}

runtime::Jit& jit() {
  static runtime::Jit jit({});  // no folder: what is tested is what these sources emit
  return jit;
}

std::int32_t scalar(const RankMemory& memory, std::string_view name) { return memory.of<std::int32_t>(name)[0]; }

}  // namespace

DeviceGroup::DeviceGroup(const K2Key& key) {
  const auto table = runtime::HipTable::open(runtime::Provider::kEmulator);
  for (int rank = 0; rank < kRanks; ++rank) {
    const runtime::Device device = runtime::Device::at(table, rank);
    ranks_.push_back({device, runtime::Stream(device), {}, nullptr});
    RankMemory& memory = memory_[static_cast<std::size_t>(rank)];
    for (const TensorShape& shape : rank_shapes(key)) {
      const std::size_t bytes =
          kernels::reference::element_count(shape.extents) * kernels::reference::element_bytes(shape.dtype);
      auto& buffer = ranks_.back().buffers.emplace_back(
          shape.name == "peer" ? runtime::DeviceBuffer::uncached(device, bytes) : runtime::DeviceBuffer(device, bytes));
      auto* const address = static_cast<std::byte*>(buffer.address());
      memory.add({std::string(shape.name), shape.dtype, shape.extents, {address, bytes}});
      if (shape.name == "peer") ranks_.back().peer = address;
    }
    memory.of<std::int32_t>("rank")[0] = rank;
    memory.of<std::int32_t>("blk_sr")[0] = kHidden;
    memory.of<std::int32_t>("blk_sm")[0] = kMaxBlocks * kHidden;
  }
  for (const Rank& rank : ranks_) {
    for (const Rank& peer : ranks_) rank.device.enable_peer_access(peer.device);
  }
  std::vector<std::uint64_t> bases;
  for (const Rank& rank : ranks_) bases.push_back(std::bit_cast<std::uint64_t>(rank.peer + kPeerHead));
  for (const Rank& rank : ranks_) peer_tables_.emplace_back(rank.device, std::as_bytes(std::span(bases)));
}

void DeviceGroup::set_launch(std::int32_t epoch, std::int32_t layer) const {
  for (const RankMemory& memory : memory_) {
    memory.of<std::int32_t>("epoch")[0] = epoch;
    memory.of<std::int32_t>("layer")[0] = layer;
  }
}

void DeviceGroup::set_shape(const K2Key& key) {
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

std::vector<runtime::ArgumentValue> DeviceGroup::arguments(std::size_t rank) const {
  const RankMemory& memory = memory_[rank];
  std::vector<runtime::ArgumentValue> values;
  for (const kernels::Argument& argument : kK2Arguments) {
    if (argument.type == kernels::ArgumentType::kInt32) {
      values.emplace_back(scalar(memory, argument.name));
    } else if (argument.name == "peers") {
      values.emplace_back(peer_tables_[rank].address());
    } else if (argument.name == "alarm") {
      values.emplace_back(ranks_[0].peer + 4 * rank);
    } else {
      values.emplace_back(memory.view(argument.name).bytes.data());
    }
  }
  return values;
}

void DeviceGroup::launch(const K2Key& key) const {
  std::vector<std::shared_ptr<const runtime::LoadedKernel>> kernels;
  for (const Rank& rank : ranks_) kernels.push_back(jit().prepare(build_key(key), rank.device));
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    ranks_[rank].device.select();
    kernels[rank]->launch(arguments(rank), ranks_[rank].stream.get());
  }
  for (const Rank& rank : ranks_) rank.stream.synchronize();
}

std::string disagreement(const GroupExpectation& expected, const GroupMemory& after) {
  std::string text;
  for (const kernels::Comparison& row : expected.compare(after)) {
    if (!row.ok) {
      text += fmt::format("{}: {} of {} mismatches, error {} of {}\n", row.name, row.mismatches, row.elements,
                          row.max_error, row.bound);
    }
  }
  if (text.empty()) return text;
  for (const std::string& line : expected.differences(after)) text += line + "\n";
  return text;
}

}  // namespace monojit::tests
