#include <cstring>
#include <memory>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "runtime/fail_stop.h"
#include "runtime/group_step.h"
#include "tests/kernels/device/emulator_option.h"
#include "tests/kernels/device/k2_bench.h"

// Steps of several layers, captured on every rank and replayed, as an engine runs them.
namespace {

using namespace monojit;
using namespace kernels::kimi_k3;
using Catch::Matchers::ContainsSubstring;

constexpr std::uint64_t kSeed = 71;
constexpr std::int32_t kEpochs = 1 << 22;  // that tags tell apart
constexpr int kReplays = 3;
constexpr int kLayers[] = {kBlockLayers, kBlockLayers + 1};  // the first opens a block

K2Key key_of(int layer) { return {.tokens = 1, .nblocks = blocks_of_layer(layer), .reset = resets_prefix(layer)}; }

runtime::GroupLayer group_layer(const tests::DeviceGroup& group, const K2Key& key, std::int32_t slot) {
  runtime::GroupLayer layer{.key = tools::build_key(key), .arguments = {}};
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    layer.arguments.push_back(group.arguments(rank));
    layer.arguments.back().set("layer", slot);
  }
  return layer;
}

/// A step of these layers, ready to be replayed.
void capture(runtime::GroupStep& step, const std::vector<runtime::GroupLayer>& layers) {
  std::vector<kernels::BuildKey> keys;
  for (const runtime::GroupLayer& layer : layers) keys.push_back(layer.key);
  step.prepare(tests::group_jit(), keys);
  step.capture(layers);
}

/// Ranks and tensors that differ.
std::string difference(const GroupResult& a, const GroupResult& b) {
  std::string text;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const auto note = [&](bool same, const char* tensor) {
      if (!same) text += "rank" + std::to_string(rank) + "/" + tensor + " ";
    };
    note(a[rank].prefix == b[rank].prefix, "prefix");
    note(a[rank].out == b[rank].out, "out");
    note(a[rank].scratch == b[rank].scratch, "scratch");
    note(a[rank].peer == b[rank].peer, "peer");
  }
  return text;
}

}  // namespace

TEST_CASE(
    "Given a captured step of two layers, when it is replayed across the last epoch of the tags on ranks that are "
    "ahead "
    "or behind at random, then it leaves what verified launches one by one leave",
    "[k2]") {
  tests::K2Bench replayed;
  tests::K2Bench single;
  constexpr std::int32_t kFirstEpoch = kEpochs - 2;
  for (tests::K2Bench* const bench : {&replayed, &single}) {
    bench->fill(key_of(kLayers[1]), kSeed);
    bench->group().set_launch(kFirstEpoch, 0);
  }

  runtime::GroupStep step(replayed.group().peers());
  std::vector<runtime::GroupLayer> layers;
  for (const int layer : kLayers) layers.push_back(group_layer(replayed.group(), key_of(layer), back_slot(layer)));
  capture(step, layers);
  {
    const tests::EmulatorOption skew(replayed.group().hip(), "skew", "1", "0");  // and they of each other
    for (int replay = 0; replay < kReplays; ++replay) step.launch();             // the host runs ahead of the devices
    step.synchronize();
  }

  for (int replay = 0; replay < kReplays; ++replay) {
    for (const int layer : kLayers) {
      single.group().set_launch(kFirstEpoch + 1 + replay, back_slot(layer));
      INFO("replay " << replay << " layer " << layer);
      REQUIRE(single.disagreement_of(key_of(layer)) == "");
    }
  }
  CHECK(replayed.rank(5).of<std::int32_t>("epoch")[0] == kFirstEpoch + kReplays);
  CHECK(difference(read_results(replayed.group().memory()), read_results(single.group().memory())) == "");
}

TEST_CASE(
    "Given a rank that stalls in a replayed step, when the engine looks after each, then all ranks tell who was "
    "late, and go on telling",
    "[k2]") {
  constexpr std::int32_t kEpoch = 7;
  constexpr std::int32_t kSlot = back_slot(kFirstLayer);
  constexpr int kTicks = 1'200'000'000;  // 12 s
  const K2Key key{
      .tokens = 1, .nblocks = 1, .fault_rank = 3, .fault_epoch = kEpoch, .fault_layer = kSlot, .fault_ticks = kTicks};
  tests::K2Bench bench;
  bench.fill(key, kSeed);
  bench.group().set_launch(kEpoch - 2, kSlot);
  runtime::GroupStep step(bench.group().peers());
  const runtime::GroupLayer layer = group_layer(bench.group(), key, kSlot);
  capture(step, {layer});
  std::vector<std::unique_ptr<runtime::FailStop>> watches;
  for (const runtime::PeerRank& rank : bench.group().peers().ranks()) {
    watches.push_back(std::make_unique<runtime::FailStop>(rank, std::vector{runtime::WatchedLaunch{layer.key, kSlot}}));
  }
  const auto run_step = [&] {
    step.launch();
    for (std::size_t rank = 0; rank < kRanks; ++rank) (void)watches[rank]->watch(step.stream(rank));
    step.synchronize();
  };

  run_step();
  for (const auto& watch : watches) CHECK(!watch->poll_error());
  for (int later = 0; later < 2; ++later) {  // the first of them is the one that fails
    run_step();
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      const auto& error = watches[rank]->poll_error();
      REQUIRE(error);
      CHECK_THAT(*error, ContainsSubstring(rank == 3 ? "from workgroup 0 of its own rank" : "from rank 3, "));
      CHECK_THAT(*error, ContainsSubstring("by rank 0's alarm flags, ranks 0, 1, 2, 3, 4, 5, 6, 7 gave up"));
    }
  }
}
