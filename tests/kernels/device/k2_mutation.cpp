#include "tests/kernels/device/k2_mutation.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/reference/compare.h"
#include "runtime/fail_stop.h"
#include "runtime/hip/device_error.h"

namespace monojit::tests {

using namespace kernels::kimi_k3;

namespace {

constexpr std::uint64_t kSeed = 61;
constexpr std::int32_t kSlot = back_slot(kFirstLayer);
constexpr std::int32_t kEpoch = (1 << 22) + 9;  // more than a tag holds of it, and odd

/// The rank that pushes a pair of a peer buffer's region.
std::int64_t source_of(const kernels::Region& region, std::int64_t pair) {
  if (region.name == "lat") return pair % (kLatent / 2) / (kRankLatent / 2);
  return pair / (region.count() / kRanks);
}

/// A group of which the launch can be made again and again from the same memory.
class Group {
 public:
  explicit Group(const K2Key& key) : key_(key) {
    bench_.fill(key, kSeed);
    bench_.group().set_launch(kEpoch, kSlot);
    before_ = read_results(memory());
    expected_.emplace(key, memory());
  }

  /// `alone`: the rank that runs; nothing: all do.
  std::optional<std::string> trial(const std::shared_ptr<const runtime::CompiledKernel>& compiled,
                                   std::optional<int> alone) {
    restore();
    if (alone) push_for_others(*alone);
    const auto first = static_cast<std::size_t>(alone.value_or(0));
    if (auto fault = launch(compiled, first, alone ? first + 1 : kRanks)) return fault;
    if (auto health = bench_.group().explain(std::vector{runtime::WatchedLaunch{compiled->key, kSlot}})) return health;
    if (alone ? is_right(first) : expected_->is_exactly(memory())) return std::nullopt;
    std::vector<std::string> lines = expected_->differences(memory());
    if (alone) {
      const std::string rank = fmt::format("rank{}/", *alone);
      std::erase_if(lines, [&](const std::string& line) { return !line.starts_with(rank); });
    }
    return lines.empty() ? "words outside of the regions, or inputs, differ" : lines.front();
  }

 private:
  const GroupMemory& memory() { return bench_.group().memory(); }

  void restore() {
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      const auto put = [&]<class T>(const std::vector<T>& from, std::string_view name) {
        std::ranges::copy(from, memory()[rank].of<T>(name).begin());
      };
      put(before_[rank].prefix, "prefix");
      put(before_[rank].out, "out");
      put(before_[rank].scratch, "scratch");
      put(before_[rank].peer, "peer");
      std::ranges::fill(memory()[rank].of<std::uint32_t>("health"), 0);
    }
  }

  // What the ranks that don't run would have put into the peer buffer of the one that does.
  void push_for_others(int alone) {
    const auto number = static_cast<std::size_t>(alone);
    const RankMemory& rank = memory()[number];
    const std::size_t half = half_offset(rank);
    const std::span<std::byte> peer = rank.of<std::byte>("peer").subspan(half);
    const std::span<const std::byte> pushed = std::span(expected_->results()[number].peer).subspan(half);
    const PeerLayout p = peer_layout(key_.tokens);
    for (const kernels::Region& region : {p.ar, p.rlog, p.lat, p.latr, p.final_}) {
      for (std::int64_t pair = 0; pair < region.count(); ++pair) {
        if (source_of(region, pair) == alone) continue;
        const auto at = static_cast<std::size_t>(region.offset + pair * kernels::kTaggedPairBytes);
        std::ranges::copy(pushed.subspan(at, kernels::kTaggedPairBytes), peer.subspan(at).begin());
      }
    }
  }

  bool is_right(std::size_t rank) {
    const RankResult got = read_results(memory())[rank];
    const RankResult& want = expected_->results()[rank];
    return got.prefix == want.prefix && got.out == want.out && got.scratch == want.scratch && got.peer == want.peer;
  }

  // On ranks `first` .. `end` - 1. All devices end before the next launch: each is waited for, whatever the others say.
  std::optional<std::string> launch(const std::shared_ptr<const runtime::CompiledKernel>& compiled, std::size_t first,
                                    std::size_t end) {
    std::optional<std::string> fault;
    const auto guarded = [&](auto&& step) {
      try {
        step();
      } catch (const runtime::DeviceError& error) {
        if (!fault) fault = error.detail().empty() ? error.what() : error.detail();
      }
    };
    std::deque<runtime::LoadedKernel> kernels;
    const DeviceGroup& group = bench_.group();
    for (std::size_t rank = first; rank < end; ++rank) kernels.emplace_back(group.device(rank), compiled);
    for (std::size_t rank = first; rank < end; ++rank) {
      guarded([&] {
        group.device(rank).select();
        kernels[rank - first].launch(group.arguments(rank).values(), group.rank(rank).stream());
      });
    }
    for (std::size_t rank = first; rank < end; ++rank) guarded([&] { group.rank(rank).synchronize(); });
    return fault;
  }

  K2Key key_;
  K2Bench bench_;
  GroupResult before_;
  std::optional<GroupExpectation> expected_;
};

}  // namespace

void check_k2_mutations(const K2Key& key, std::span<const Surroundings> runs, std::span<const Mutation> mutations,
                        std::span<const Mutation> harmless) {
  Group group(key);
  check_mutations({.key = tools::build_key(key),
                   .trial = [&](const auto& compiled, const auto& run) { return group.trial(compiled, run.alone); },
                   .runs = runs,
                   .mutations = mutations,
                   .harmless = harmless});
}

}  // namespace monojit::tests
