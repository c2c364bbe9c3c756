#include <catch2/catch_test_macros.hpp>

#include "tests/kernels/device/k2_bench.h"

namespace {

using namespace monojit;
using namespace kernels::kimi_k3;

/// Layers `first`, `first` + 12, ...: the number of blocks grows, and each layer has another number of rows. All pairs
/// of block count and reset that the model has are in layers 1, 13, .. and 12, 24, ..
void check_layers(int first, int first_tokens) {
  tests::K2Bench bench;
  int tokens = first_tokens;
  for (int layer = first; layer <= kLastLayer; layer += kBlockLayers) {
    const K2Key key{.tokens = tokens, .nblocks = blocks_of_layer(layer), .reset = resets_prefix(layer)};
    bench.fill(key, static_cast<std::uint64_t>(layer));
    INFO("tokens " << key.tokens << " blocks " << key.nblocks << " reset " << key.reset);
    CHECK(bench.disagreement_of(key) == "");
    tokens = tokens % kMaxTokens + 1;
  }
}

}  // namespace

TEST_CASE("Given layers within each block, when K2 ran with 1 to 8 rows, then all that it left agrees", "[k2]") {
  check_layers(kFirstLayer, 8);
}

TEST_CASE("Given layers that open a block, when K2 ran with 2 to 8 rows, then all that it left agrees", "[k2]") {
  check_layers(kBlockLayers, 2);
}
