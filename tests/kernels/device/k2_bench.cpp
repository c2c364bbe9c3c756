#include "tests/kernels/device/k2_bench.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "kernels/kimi_k3/k2/reference/generate.h"

namespace monojit::tests {

namespace {

using namespace kernels::kimi_k3;

constexpr K2Key kLargest{.tokens = kMaxTokens, .nblocks = kMaxBlocks};
constexpr std::uint64_t kWeightSeed = 1;
constexpr int kPickedStride = 20;   // leaves 45 experts, more than a batch of the down projection has slots
constexpr float kNeverPicked = -4;  // scores lie in 0..1, so that this bias excludes an expert

constexpr std::string_view kRowTensors[] = {"core", "prefix", "blocks"};
constexpr std::string_view kLaunchTensors[] = {"out", "scratch", "peer", "health", "epoch", "layer"};

template <std::size_t kCount>
void generate(const K2Key& key, std::uint64_t seed, const GroupMemory& memory,
              const std::string_view (&names)[kCount]) {
  for (int rank = 0; rank < kRanks; ++rank) {
    const RankMemory& tensors = memory[static_cast<std::size_t>(rank)];
    for (const std::string_view name : names) generate_tensor(key, seed, rank, tensors.view(name));
  }
}

}  // namespace

K2Bench::K2Bench() : group_(kLargest) {
  std::vector<int> picked;
  for (int expert = 0; expert < kExperts; expert += kPickedStride) picked.push_back(expert);
  for (int rank = 0; rank < kRanks; ++rank) {
    const RankMemory& tensors = this->rank(static_cast<std::size_t>(rank));
    for (const auto& view : tensors.views()) generate_tensor(kLargest, kWeightSeed, rank, view);
    const auto bias = tensors.of<float>("bias");
    for (std::size_t expert = 0; expert < bias.size(); ++expert) {
      if (expert % kPickedStride != 0) bias[expert] = kNeverPicked;
    }
    generate_experts(kWeightSeed, rank, tensors, picked);
  }
}

void K2Bench::fill_rows(const K2Key& key, std::uint64_t seed) {
  group_.set_shape(key);
  generate(key, seed, group_.memory(), kRowTensors);
}

void K2Bench::fill(const K2Key& key, std::uint64_t seed) {
  group_.set_shape(key);
  generate(key, seed, group_.memory(), kLaunchTensors);
  fill_rows(key, seed);
}

std::string K2Bench::disagreement_of(const K2Key& key) {
  const GroupExpectation expected(key, group_.memory());
  group_.launch(key);
  return bit_disagreement(expected, group_.memory());
}

}  // namespace monojit::tests
