#include <string>

#include <catch2/catch_test_macros.hpp>

#include "tests/kernels/device/emulator_option.h"
#include "tests/kernels/device/k2_bench.h"

// K2's hand-offs where loads and stores come late and in another order, and caches keep old lines. Every device draws
// how much of that happens anew for each launch. In one launch of eight a device's loads of weights are late too.
namespace {

using namespace monojit;
using namespace kernels::kimi_k3;

constexpr std::int32_t kSlot = back_slot(kFirstLayer);
constexpr int kOneLaunchWhole = 11;  // a seed under which the last device's loads of weights are late

/// Launches of a key under seeds `first` .. `last`, step after step on the same scratch and peer buffers.
void check_seeds(const K2Key& key, int first, int last) {
  tests::K2Bench bench;
  bench.fill(key, 1);
  for (int seed = first; seed <= last; ++seed) {
    bench.fill_rows(key, static_cast<std::uint64_t>(seed));
    bench.group().set_launch(seed, kSlot);
    const tests::WeakMemory weak(bench.group().hip(), seed);
    INFO("seed " << seed);
    CHECK(bench.disagreement_of(key) == "");
  }
}

}  // namespace

TEST_CASE("Given weak memory, when K2 ran step after step, then every output and hand-off agrees", "[k2]") {
  check_seeds({.tokens = 1, .nblocks = 4}, 1, 6);
}

TEST_CASE("Given weak memory and eight rows, when K2 ran step after step, then every output and hand-off agrees",
          "[k2]") {
  check_seeds({.tokens = 8, .nblocks = 8, .reset = true}, kOneLaunchWhole, kOneLaunchWhole);
}

TEST_CASE("Given weak memory and a rank that comes 5 s late, when K2 ran, then every output and hand-off agrees",
          "[k2]") {
  constexpr int kTicks = 500'000'000;
  constexpr std::int32_t kEpoch = 3;
  tests::K2Bench bench;
  for (const int late : {0, 5}) {
    const K2Key key{.tokens = 1,
                    .nblocks = 2,
                    .fault_rank = late,
                    .fault_epoch = kEpoch + late,
                    .fault_layer = kSlot,
                    .fault_ticks = kTicks};
    bench.fill(key, 1);
    bench.group().set_launch(kEpoch + late, kSlot);
    const tests::WeakMemory weak(bench.group().hip(), 21 + late);
    INFO("rank " << late);
    CHECK(bench.disagreement_of(key) == "");
  }
}

TEST_CASE("Given the emulator's checks, when K2 ran, then none of them finds a mistake", "[k2]") {
  tests::K2Bench bench;
  const K2Key key{.tokens = 2, .nblocks = 4};
  bench.fill(key, 1);
  const tests::EmulatorOption checked(bench.group().hip(), "checks", "waits,hazards,registers,exec,buffers", "none");
  CHECK(bench.disagreement_of(key) == "");
}
