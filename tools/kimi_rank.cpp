#include "tools/kimi_rank.h"

#include <bit>
#include <cstddef>
#include <string>
#include <string_view>

#include "kernels/common/reference/tensors.h"
#include "kernels/kimi_k3/k2/arguments.h"
#include "kernels/kimi_k3/k2/roles.h"
#include "kernels/kimi_k3/k2/timeline.h"

namespace monojit::tools {

using namespace kernels::kimi_k3;

namespace {
constexpr std::size_t kStampBytes = std::size_t{kWorkgroups} * kTimelinePoints * sizeof(std::int64_t);
}  // namespace

KimiRank::KimiRank(const runtime::PeerRank& peers, const K2Key& key) : peers_(peers), stream_(peers.device()) {
  const auto shared = [&](std::string_view name) -> void* {
    if (name == "scratch") return peers.scratch();
    if (name == "health") return peers.health();
    if (name == "epoch") return peers.epoch();
    return name == "peer" ? peers.peer() : nullptr;
  };
  for (const TensorShape& shape : rank_shapes(key)) {
    const std::size_t bytes =
        kernels::reference::element_count(shape.extents) * kernels::reference::element_bytes(shape.dtype);
    void* address = shared(shape.name);
    if (address == nullptr) address = tensors_.emplace_back(device(), bytes).address();
    memory_.add({std::string(shape.name), shape.dtype, shape.extents, {static_cast<std::byte*>(address), bytes}});
  }
  if (key.timeline) stamps_.emplace(device(), kStampBytes);
}

std::span<std::int64_t> KimiRank::stamps() const {
  if (!stamps_) return {};
  return {static_cast<std::int64_t*>(stamps_->address()), kStampBytes / sizeof(std::int64_t)};
}

runtime::ArgumentValues KimiRank::arguments(const RankMemory& host) const {
  runtime::ArgumentValues values(kK2);
  for (const kernels::Argument& argument : kK2Arguments) {
    if (!memory_.has(argument.name)) continue;  // addresses of the group, below
    if (argument.type == kernels::ArgumentType::kInt32) {
      values.set(argument.name, host.of<std::int32_t>(argument.name)[0]);
    } else {
      values.set(argument.name, memory_.view(argument.name).bytes.data());
    }
  }
  values.set("tl", stamps_ ? stamps_->address() : nullptr);
  peers_.fill(values);
  return values;
}

void KimiRank::download(const RankMemory& host) const {
  device().select();
  const runtime::HipTable& hip = device().hip();
  for (const TensorShape& shape : rank_shapes(K2Key{})) {
    if (!shape.written) continue;
    const auto& to = host.view(shape.name).bytes;
    hip.check(hip.hipMemcpy(to.data(), memory_.view(shape.name).bytes.data(), to.size(), hipMemcpyDeviceToHost),
              "hipMemcpy");
  }
}

void set_launch(const GroupMemory& memory, std::int32_t epoch, std::int32_t layer) {
  for (const RankMemory& rank : memory) {
    rank.of<std::int32_t>("epoch")[0] = epoch;
    rank.of<std::int32_t>("layer")[0] = layer;
  }
}

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
                                              {"fault_ticks", key.fault_ticks},
                                              {"timeline", key.timeline}});
}

}  // namespace monojit::tools
