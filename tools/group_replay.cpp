#include "tools/group_replay.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernels/kimi_k3/k2/reference/generate.h"
#include "kernels/kimi_k3/k2/reference/reference.h"
#include "tools/launch_chain.h"

namespace monojit::tools {
namespace {

using namespace kernels::kimi_k3;
using kernels::Comparison;
using kernels::reference::BFloat16Bits;
using kernels::reference::same_bf16;

constexpr BFloat16Bits kNan = 0x7FC0;
constexpr const char* kOut = "replays.out";
constexpr const char* kPrefix = "replays.prefix";
constexpr const char* kFinal = "replays.final";
constexpr const char* kHandOffs = "replays.hand_offs";

// The emulator's device memory is the host's.
std::span<BFloat16Bits> rows_of(const runtime::DeviceBuffer& buffer) {
  return {static_cast<BFloat16Bits*>(buffer.address()), buffer.bytes() / sizeof(BFloat16Bits)};
}

}  // namespace

GroupReplay::GroupReplay(const KimiGroup& group, const std::vector<PlannedLaunch>& plan,
                         std::optional<std::uint64_t> seed)
    : group_(group), plan_(plan), core_(buffers_like("core")), prefix_(buffers_like("prefix")) {
  for (std::size_t i = 0; i < plan.size(); ++i) out_.push_back(buffers_like("out"));
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    for (const auto& [name, buffers] : {std::pair("core", &core_), std::pair("prefix", &prefix_)}) {
      TensorView view = group.memory()[rank].view(name);
      const std::span<std::byte> there = view.bytes;
      view.bytes = std::as_writable_bytes(rows_of((*buffers)[rank]));
      if (seed) {
        generate_tensor(plan.front().key, *seed, static_cast<int>(rank), view);
      } else {
        std::ranges::copy(there, view.bytes.begin());
      }
    }
    const auto prefix = rows_of(prefix_[rank]);
    prefix_before_.emplace_back(prefix.begin(), prefix.end());
  }
}

GroupReplay::OfRanks GroupReplay::buffers_like(std::string_view tensor) const {
  OfRanks buffers;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    buffers[rank] = runtime::DeviceBuffer(group_.device(rank), group_.memory()[rank].view(tensor).bytes.size());
  }
  return buffers;
}

GroupMemory GroupReplay::memory(std::size_t index) const {
  GroupMemory memory = group_.memory();
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const auto put = [&](std::string_view name, const OfRanks& buffers) {
      memory[rank].view(name).bytes = std::as_writable_bytes(rows_of(buffers[rank]));
    };
    put("core", core_);
    put("prefix", prefix_);
    put("out", out_[index]);
  }
  return memory;
}

void GroupReplay::prepare(ExpertWeights& experts, kernels::reference::MatrixModel model, bool verify) {
  restore();
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    const GroupMemory before = memory(i);
    const RoutedGroup routed = run_to_routing(plan_[i].key, before, model);
    experts.fill(routed.routes);
    if (verify) expect(i, before, model);
    for (std::size_t rank = 0; rank < kRanks; ++rank)  // which the next launch reads
      std::ranges::copy(routed.prefix[rank], rows_of(prefix_[rank]).begin());
  }
}

void GroupReplay::expect(std::size_t index, const GroupMemory& before, kernels::reference::MatrixModel model) {
  const PlannedLaunch& launch = plan_[index];
  const bool last = index + 1 == plan_.size();
  GroupResult after = run_group(launch.key, before, model);
  if (last) hand_offs_.emplace(launch.key, before, after);
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    if (launch.key.reduce) {
      results_.push_back({kOut, fmt::format("layer {}: rank{}/out", launch.slot - back_slot(0), rank),
                          rows_of(out_[index][rank]), std::move(after[rank].out)});
    }
    if (!last) continue;
    results_.push_back(
        {kPrefix, fmt::format("rank{}/prefix", rank), rows_of(prefix_[rank]), std::move(after[rank].prefix)});
  }
}

runtime::GroupLayer GroupReplay::layer(std::size_t index) const {
  runtime::GroupLayer layer{.key = plan_[index].build, .arguments = {}};
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    layer.arguments.push_back(group_.arguments(rank)
                                  .set("layer", plan_[index].slot)
                                  .set("core", core_[rank].address())
                                  .set("prefix", prefix_[rank].address())
                                  .set("out", out_[index][rank].address()));
  }
  return layer;
}

void GroupReplay::capture(runtime::Jit& jit) {
  for (std::size_t first = 0, end = 0; first < plan_.size(); first = end) {
    std::vector<runtime::GroupLayer> layers;
    std::vector<kernels::BuildKey> keys;
    for (; end < plan_.size() && plan_[end].step == plan_[first].step; ++end) {
      layers.push_back(layer(end));
      keys.push_back(plan_[end].build);
    }
    const auto& step = steps_.emplace_back(std::make_unique<runtime::GroupStep>(group_.peers()));
    step->prepare(jit, keys);
    step->capture(layers);
  }
}

void GroupReplay::restore() {
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    std::ranges::copy(prefix_before_[rank], rows_of(prefix_[rank]).begin());
    for (const OfRanks& out : out_) std::ranges::fill(rows_of(out[rank]), kNan);
  }
}

void GroupReplay::launch() const {
  for (const auto& step : steps_) {
    for (std::size_t rank = 0; rank < kRanks; ++rank) step->launch(rank, group_.rank(rank).stream());
  }
}

std::string GroupReplay::compare(std::int32_t epoch, std::optional<Left> left, std::vector<Comparison>& rows) const {
  std::string first;
  std::vector<Comparison> own;
  for (const Result& result : results_) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < result.expected.size(); ++i) {
      if (same_bf16(result.found[i], result.expected[i]) || wrong++ > 0 || !first.empty()) continue;
      first = fmt::format("{}[token {}][column {}] is {:#06x}, expected {:#06x}", result.name, i / kHidden, i % kHidden,
                          result.found[i], result.expected[i]);
    }
    own.push_back({result.row, result.expected.size(), wrong, 0, 0, wrong == 0});
  }
  if (hand_offs_ && left) {
    const PlannedLaunch& launch = plan_.back();
    for (Comparison& region : hand_offs_->compare(group_.memory(), epoch, launch.slot, *left, first)) {
      region.name = region.name == "final" && !launch.key.reduce ? kFinal : kHandOffs;
      own.push_back(std::move(region));
    }
  }
  merge(own, rows);
  return first;
}

}  // namespace monojit::tools
