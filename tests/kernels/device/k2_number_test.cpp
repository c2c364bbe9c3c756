#include <cmath>
#include <cstdint>
#include <iterator>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/kimi_k3/k2/reference/activation.h"
#include "kernels/kimi_k3/k2/reference/experts.h"
#include "tests/kernels/device/k2_directed.h"

// Numbers at the ends of their ranges: activations that saturate, blocks of FP4 at the bounds of their scales.
namespace {

using namespace monojit;
using namespace kernels::kimi_k3;
using kernels::reference::bf16_bits;
using kernels::reference::BFloat16Bits;

constexpr std::int64_t kColumn = 100;  // of x, the one that is not zero: it is 2
constexpr float kHuge = 3e38F;         // twice of it is infinity

}  // namespace

TEST_CASE("Given gates and ups of zero and infinity, when K2 ran, then the shared activation saturates", "[k2]") {
  constexpr K2Key kKey{.tokens = 1, .nblocks = 1, .reset = true};
  struct Row {
    float gate, up;
    BFloat16Bits expected;
  };
  const Row rows[] = {
      {kHuge, kHuge, bf16_bits(100)},
      {kHuge, -kHuge, bf16_bits(-100)},
      {-kHuge, kHuge, 0x8000},
      {-kHuge, -kHuge, 0},
      {0, 1, 0},
      {1, 0, 0},
      {-1, 0, 0x8000},
  };
  tests::DirectedK2 launch(kKey);
  launch.set_x(0, kColumn);
  for (int row = 0; row < static_cast<int>(std::size(rows)); ++row) {
    launch.set_all("w_sgu", std::int64_t{row} * kHidden + kColumn, rows[row].gate);
    launch.set_all("w_sgu", std::int64_t{row + kSharedIntermediate} * kHidden + kColumn, rows[row].up);
  }
  CHECK(launch.disagreement() == "");
  for (int rank = 0; rank < kRanks; ++rank) {
    const kernels::Region& h = launch.regions().h;
    for (int row = 0; row < static_cast<int>(std::size(rows)); ++row) {
      INFO("gate " << rows[row].gate << " up " << rows[row].up);
      const float found = launch.scratch(rank).bf16_element(h, h.at(0, 0), static_cast<std::size_t>(row));
      CHECK(bf16_bits(found) == rows[row].expected);
    }
  }
}

TEST_CASE("Given blocks at the bounds of their scales, when K2 ran, then the experts see the rule's scales", "[k2]") {
  constexpr K2Key kKey{.tokens = 1, .nblocks = 1, .reset = true};
  // Block i of the latent has its maximum, which would saturate under a smaller scale than the rule's, and half of the
  // scale, which would be lost under a larger one. Expert i looks at the two alone, with weights that undo the scale.
  struct Block {
    float maximum;
    int code;
    float scaled;  ///< the maximum over the scale, in FP4
  };
  const Block blocks[] = {{6, 127, 6},          {3, 126, 6},         {6.0625F, 128, 3},
                          {-6, 127, -6},        {0x1.8p-60F, 65, 6}, {0x1.8p100F, 225, 6},
                          {0x1.86p20F, 146, 3}, {0x1p-100F, 25, 4},  {0x1.FEp126F, 252, 4}};
  constexpr unsigned kOne = 2;
  constexpr unsigned kThree = 5;
  tests::DirectedK2 launch(kKey);
  launch.set_x(0, kColumn);
  for (int i = 0; i < static_cast<int>(std::size(blocks)); ++i) {
    const Block& block = blocks[i];
    const auto watch = [&](int intermediate, int column, float value) {
      const auto undo = static_cast<unsigned>(254 - block.code);
      launch.set_all("w_ld", std::int64_t{kMxBlock * i + column} * kHidden + kColumn, value / 2);
      launch.set_expert_all(kGateUpMatrix, i, intermediate, kMxBlock * i + column, kOne, undo);
      launch.set_expert_all(kGateUpMatrix, i, kIntermediate + intermediate, kMxBlock * i + column, kThree, undo);
    };
    watch(0, 3, block.maximum);
    watch(kMxBlock, 4, std::ldexp(0.5F, block.code - 127));
  }
  CHECK(launch.disagreement() == "");
  const ScratchLayout& s = launch.regions();
  const Mail scratch = launch.scratch(1);
  for (int i = 0; i < static_cast<int>(std::size(blocks)); ++i) {
    INFO("maximum " << blocks[i].maximum);
    std::vector<float> values(kIntermediate, 0.0F);
    values[0] = expert_activation(blocks[i].scaled, 3 * blocks[i].scaled);
    values[kMxBlock] = expert_activation(0.5F, 1.5F);
    const MxRow expected = quantise_intermediate(values);
    for (const int block : {0, 1}) {
      CHECK(scratch.value(s.isc, s.isc.at(i, block)) == expected.codes[static_cast<std::size_t>(block)]);
      CHECK(scratch.value(s.inter, s.inter.at(i, 4 * block)) == expected.words[static_cast<std::size_t>(4 * block)]);
    }
  }
}

TEST_CASE("Given a latent block of infinity and ones too small for a scale, when K2 ran, then codes stay numbers",
          "[k2]") {
  constexpr K2Key kKey{.tokens = 2, .nblocks = 1, .reset = true};
  constexpr unsigned kOne = 2;
  tests::DirectedK2 launch(kKey);
  launch.set_x(0, kColumn);
  launch.set_x(1, kColumn + 1);
  const auto set_latent = [&](int token, int column, float half) {
    launch.set_all("w_ld", std::int64_t{column} * kHidden + kColumn + token, half);
  };
  set_latent(0, 0, kHuge);       // infinity
  set_latent(1, 40, 0x1p-126F);  // the code is 0 or nearly so
  set_latent(1, 80, 0x1p-130F);
  for (const int column : {0, 40, 80}) {
    launch.set_expert_all(kGateUpMatrix, 0, column, column, kOne, 127);
    launch.set_expert_all(kGateUpMatrix, 0, kIntermediate + column, column, kOne, 127);
    launch.set_expert_all(kDownMatrix, 0, 9, column, kOne, 127);
  }
  CHECK(launch.disagreement() == "");
  const ScratchLayout& s = launch.regions();
  const Mail scratch = launch.scratch(6);
  for (int row = 0; row < 2 * kTopExperts; ++row) {
    for (int block = 0; block < kIntermediateBlocks; ++block) {
      CHECK(scratch.value(s.isc, s.isc.at(row, block)) <= 254);
    }
  }
  CHECK(scratch.value(s.isc, s.isc.at(0, 0)) > 0);  // infinity is 6 at the largest scale, whose tanh is a number
}
