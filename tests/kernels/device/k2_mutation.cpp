#include "tests/kernels/device/k2_mutation.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/kimi_k3/k2/reference/compare.h"
#include "runtime/fail_stop.h"
#include "runtime/hip/device_error.h"

namespace monojit::tests {

using namespace kernels::kimi_k3;

namespace {

constexpr std::uint64_t kSeed = 61;
constexpr std::int32_t kSlot = back_slot(kFirstLayer);
constexpr std::int32_t kEpoch = (1 << 22) + 9;  // more than a tag holds of it, and odd

/// A group of which the launch can be made again and again from the same memory.
class Group {
 public:
  explicit Group(const K2Key& key) : key_(key) {
    bench_.fill(key, kSeed);
    bench_.group().set_launch(kEpoch, kSlot);
    before_ = read_results(memory());
    expected_.emplace(key, memory());
  }

  std::optional<std::string> trial(const std::shared_ptr<const runtime::CompiledKernel>& compiled) {
    restore();
    if (auto fault = launch(compiled)) return fault;
    if (auto health = bench_.group().explain(std::vector{runtime::WatchedLaunch{compiled->key, kSlot}})) return health;
    if (expected_->is_exactly(memory())) return std::nullopt;
    const std::vector<std::string> lines = expected_->differences(memory());
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

  // All devices end before the next launch: each is waited for, whatever the others say.
  std::optional<std::string> launch(const std::shared_ptr<const runtime::CompiledKernel>& compiled) {
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
    for (std::size_t rank = 0; rank < kRanks; ++rank) kernels.emplace_back(group.device(rank), compiled);
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      guarded([&] {
        group.device(rank).select();
        kernels[rank].launch(group.arguments(rank).values(), group.rank(rank).stream());
      });
    }
    for (std::size_t rank = 0; rank < kRanks; ++rank) guarded([&] { group.rank(rank).synchronize(); });
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
                   .trial = [&](const auto& compiled) { return group.trial(compiled); },
                   .runs = runs,
                   .mutations = mutations,
                   .harmless = harmless});
}

}  // namespace monojit::tests
