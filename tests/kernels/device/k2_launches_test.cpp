#include <catch2/catch_test_macros.hpp>

#include "tests/kernels/device/k2_bench.h"

// Launch after launch on one scratch and one peer buffer, which nobody clears.
namespace {

using namespace monojit;
using namespace kernels::kimi_k3;

constexpr std::uint64_t kSeed = 31;
constexpr std::int32_t kEpochs = 1 << 22;  // that tags tell apart

}  // namespace

TEST_CASE("Given words of earlier launches, when layers and steps of other widths follow, then each agrees", "[k2]") {
  tests::K2Bench bench;
  constexpr int kWidths[] = {2, 1, 3};  // of consecutive steps
  bench.fill({.tokens = kWidths[0], .nblocks = 1}, kSeed);
  std::int32_t epoch = 5;
  for (const int tokens : kWidths) {
    for (const int layer : {kBlockLayers - 1, kBlockLayers}) {
      const K2Key key{.tokens = tokens, .nblocks = blocks_of_layer(layer), .reset = resets_prefix(layer)};
      bench.fill_rows(key, kSeed + static_cast<std::uint64_t>(epoch));
      bench.group().set_launch(epoch, back_slot(layer));
      INFO("epoch " << epoch << " layer " << layer << " tokens " << tokens);
      CHECK(bench.disagreement_of(key) == "");
    }
    ++epoch;
  }
}

TEST_CASE("Given the last epochs before tags begin anew, when steps go on across, then each agrees", "[k2]") {
  tests::K2Bench bench;
  const K2Key key{.tokens = 1, .nblocks = 1};
  bench.fill(key, kSeed);
  constexpr int kSteps = 4;
  for (int step = 0; step < kSteps; ++step) {
    const std::int32_t epoch = kEpochs - 2 + step;
    bench.fill_rows(key, kSeed + static_cast<std::uint64_t>(step));
    bench.group().set_launch(epoch, back_slot(kFirstLayer));
    INFO("epoch " << epoch);
    CHECK(bench.disagreement_of(key) == "");
  }
}
