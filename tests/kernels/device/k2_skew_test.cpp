#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/kimi_k3/k2/reference/compare.h"
#include "runtime/fail_stop.h"
#include "runtime/hip/buffer.h"
#include "runtime/hip/device_error.h"
#include "tests/kernels/device/damages.h"
#include "tests/kernels/device/emulator_option.h"
#include "tests/kernels/device/k2_bench.h"
#include "tests/kernels/device/launch.h"
#include "tests/kernels/device/mutant.h"

// Steps of several layers and of changing widths, submitted at once, on ranks that are held back at random: a rank that
// is ahead comes into the next layer, and into the next step, while others are in the one before.
namespace {

using namespace monojit;
using namespace kernels::kimi_k3;
using namespace tests::damage;
using tests::kEvery;
using tests::Mutation;
using tests::Surroundings;

constexpr std::uint64_t kSeed = 81;
constexpr std::int32_t kEpochs = 1 << 22;           // that tags tell apart
constexpr std::int32_t kEpochBefore = kEpochs - 2;  // so that odd epochs are of one row
// Where halves meet, a wider step's first pairs lie in the last ones of a narrow step.
constexpr int kWidths[] = {1, 2, 1};
constexpr int kLayers[] = {kBlockLayers + 1, kBlockLayers + 2};  // of one build

K2Key key_of(int tokens, int layer) {
  return {.tokens = tokens, .nblocks = blocks_of_layer(layer), .reset = resets_prefix(layer)};
}
const K2Key kWidest = key_of(2, kLayers[1]);

struct Launch {
  std::shared_ptr<const runtime::LoadedKernel> kernel;
  std::size_t rank;
  runtime::ArgumentValues arguments;
};

/// What the chain leaves: the memory behind it, and each launch's output.
struct Left {
  GroupResult memory;
  std::vector<std::vector<std::uint16_t>> outputs;
};

/// The chain, made again and again from the same memory, and what launches one by one left that the reference judged.
class Chain {
 public:
  Chain() {
    bench_.fill(kWidest, kSeed);
    group().set_launch(kEpochBefore, 0);
    before_ = read_results(group().memory());
    std::int32_t epoch = kEpochBefore;
    for (const int tokens : kWidths) {
      ++epoch;
      for (const int layer : kLayers) verify(key_of(tokens, layer), epoch, back_slot(layer));
    }
    expected_.memory = results();
  }

  /// Runs it with `mutant`, if there is one, in the place of its key's kernel. What a failed device or a health record
  /// tells; else nothing, and `left` is what it left.
  std::optional<std::string> run(const std::shared_ptr<const runtime::CompiledKernel>& mutant, Left& left) {
    restore();
    try {
      submit(mutant);
      group().synchronize();
    } catch (const runtime::DeviceError& error) {
      return error.detail().empty() ? error.what() : error.detail();
    }
    if (auto health = group().explain(watched())) return health;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const auto* const words = static_cast<const std::uint16_t*>(outputs_[i].address());
      left.outputs.emplace_back(words, words + expected_.outputs[i].size());
    }
    left.memory = results();
    return std::nullopt;
  }

  const Left& expected() const { return expected_; }

 private:
  tests::DeviceGroup& group() { return bench_.group(); }

  void verify(const K2Key& key, std::int32_t epoch, std::int32_t slot) {
    group().set_shape(key);
    group().set_launch(epoch, slot);
    const std::string disagreement = bench_.disagreement_of(key);
    INFO(disagreement);
    REQUIRE(disagreement.empty());
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      const auto out = bench_.rank(rank).of<std::uint16_t>("out");
      outputs_.emplace_back(group().device(rank), out.size_bytes());
      expected_.outputs.emplace_back(out.begin(), out.end());
    }
  }

  GroupResult results() {
    group().set_shape(kWidest);
    return read_results(group().memory());
  }

  void restore() {
    group().set_shape(kWidest);
    group().set_launch(kEpochBefore, 0);
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      const RankMemory& memory = bench_.rank(rank);
      std::ranges::copy(before_[rank].prefix, memory.of<std::uint16_t>("prefix").begin());
      std::ranges::copy(before_[rank].out, memory.of<std::uint16_t>("out").begin());
      std::ranges::copy(before_[rank].scratch, memory.of<std::byte>("scratch").begin());
      std::ranges::copy(before_[rank].peer, memory.of<std::byte>("peer").begin());
      std::ranges::fill(memory.of<std::uint32_t>("health"), 0U);
    }
  }

  void submit(const std::shared_ptr<const runtime::CompiledKernel>& mutant) {
    prepare(mutant);
    for (const Launch& launch : launches_) {
      group().device(launch.rank).select();
      launch.kernel->launch(launch.arguments.values(), group().rank(launch.rank).stream());
    }
  }

  // All of them first: who is ahead must find the next launch when it ends one.
  void prepare(const std::shared_ptr<const runtime::CompiledKernel>& mutant) {
    const auto bump = kernels::BuildKey::parse("common.bump");
    std::size_t output = 0;
    launches_.clear();
    for (const int tokens : kWidths) {
      for (std::size_t rank = 0; rank < kRanks; ++rank) {
        add(tests::group_jit().prepare(bump, group().device(rank)), rank, runtime::ArgumentValues(bump.family()));
      }
      for (const int layer : kLayers) {
        const kernels::BuildKey key = tools::build_key(key_of(tokens, layer));
        const bool mutated = mutant != nullptr && mutant->key == key;
        for (std::size_t rank = 0; rank < kRanks; ++rank) {
          runtime::ArgumentValues arguments = group().arguments(rank);
          arguments.set("layer", back_slot(layer));
          arguments.set("out", outputs_[output++].address());
          const runtime::Device& device = group().device(rank);
          add(mutated ? std::make_shared<const runtime::LoadedKernel>(device, mutant)
                      : tests::group_jit().prepare(key, device),
              rank, std::move(arguments));
        }
      }
    }
  }

  void add(std::shared_ptr<const runtime::LoadedKernel> kernel, std::size_t rank, runtime::ArgumentValues arguments) {
    group().peers().ranks()[rank].fill(arguments);
    launches_.push_back({std::move(kernel), rank, std::move(arguments)});
  }

  static std::vector<runtime::WatchedLaunch> watched() {
    std::vector<runtime::WatchedLaunch> launches;
    for (const int layer : kLayers) launches.push_back({tools::build_key(key_of(2, layer)), back_slot(layer)});
    return launches;
  }

  tests::K2Bench bench_;
  GroupResult before_;
  Left expected_;
  std::vector<runtime::DeviceBuffer> outputs_;  // a launch's eight ranks, then the next one's
  std::vector<Launch> launches_;
};

// Of mutants, who may use other halves and tags than the reference knows, the values alone count.
void check_mutations(Chain& chain, std::span<const Surroundings> runs, std::span<const Mutation> mutations,
                     std::span<const Mutation> harmless = {}) {
  const auto trial = [&](const auto& kernel, const auto&) -> std::optional<std::string> {
    Left left;
    if (auto failure = chain.run(kernel, left)) return failure;
    for (std::size_t i = 0; i < left.outputs.size(); ++i) {
      if (left.outputs[i] == chain.expected().outputs[i]) continue;
      return "the output of rank " + std::to_string(i % kRanks) + " in launch " + std::to_string(i / kRanks);
    }
    return std::nullopt;
  };
  tests::check_mutations({.key = tools::build_key(key_of(1, kLayers[0])),
                          .trial = trial,
                          .runs = runs,
                          .mutations = mutations,
                          .harmless = harmless});
}

}  // namespace

TEST_CASE(
    "Given ranks that are ahead or behind at random, when steps of two widths ran across the last epoch of the tags, "
    "then they leave what launches one by one leave, and that halves or layers meet is noticed",
    "[k2]") {
  Chain chain;
  {
    const tests::EmulatorOption skew(tests::device().hip(), "skew", "1", "0");
    Left left;
    const auto failure = chain.run(nullptr, left);
    INFO(failure.value_or("no failure"));
    REQUIRE(!failure);
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      INFO("rank " << rank);
      CHECK(left.memory[rank].prefix == chain.expected().memory[rank].prefix);
      CHECK((left.memory[rank].scratch == chain.expected().memory[rank].scratch));
      CHECK((left.memory[rank].peer == chain.expected().memory[rank].peer));
    }
  }

  const Mutation one_half[] = {{"all epochs use one half", kNothingLeft, "context.cpp", 1, kEvery, 1}};
  const Mutation tags[] = {{"the tag does without the layer", kNoLayer, "context.cpp"}};
  const Surroundings skewed[] = {{.seed = 1, .skew = 1}, {.seed = 2, .skew = 2}};
  const Surroundings even[] = {{}};
  check_mutations(chain, skewed, one_half);
  check_mutations(chain, even, tags, one_half);  // in step, nobody needs the halves
}
