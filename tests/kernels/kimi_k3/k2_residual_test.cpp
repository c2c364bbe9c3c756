#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/random.h"
#include "kernels/kimi_k3/k2/reference/residual.h"
#include "kernels/kimi_k3/k2/reference/wide_residual.h"

namespace monojit::kernels::kimi_k3 {
namespace {

using reference::bf16_bits;
using reference::bf16_value;
using reference::BFloat16Bits;

constexpr std::uint64_t kSeed = 8;
constexpr double kStep = 0x1p-8;  // of a bf16 from 0.5 to 1

/// One token unless told otherwise: zeros, weights 1.
struct Rows {
  explicit Rows(const K2Key& row_key) : key(row_key) {
    const auto tokens = static_cast<std::size_t>(key.tokens);
    delta.resize(tokens * kHidden);
    prefix.resize(tokens * kHidden);
    blocks.resize(tokens * static_cast<std::size_t>(key.nblocks) * kHidden);
  }

  K2Key key;
  std::vector<BFloat16Bits> delta, prefix, blocks;
  std::vector<BFloat16Bits> norm = std::vector<BFloat16Bits>(kHidden, bf16_bits(1));
  std::vector<BFloat16Bits> score = std::vector<BFloat16Bits>(kHidden, 0);
  std::vector<BFloat16Bits> in = std::vector<BFloat16Bits>(kHidden, bf16_bits(1));

  ResidualInputs inputs() const {
    return {delta, prefix, blocks, std::int64_t{key.nblocks} * kHidden, kHidden, norm, score, in};
  }
  ResidualResult run() const { return mix_residual(key, inputs()); }
};

Rows random_rows(const K2Key& key, std::uint64_t stream) {
  Rows rows(key);
  reference::Random random(kSeed, stream);
  for (auto* values : {&rows.delta, &rows.prefix, &rows.blocks}) {
    for (BFloat16Bits& bits : *values) bits = bf16_bits(2 * random.gaussian());
  }
  for (BFloat16Bits& bits : rows.score) bits = bf16_bits(0.05F * random.gaussian());
  for (auto* values : {&rows.norm, &rows.in}) {
    for (BFloat16Bits& bits : *values) bits = bf16_bits(1 + 0.1F * random.gaussian());
  }
  return rows;
}

TEST_CASE("ranks are summed in their order, from rank 0's own value") {
  CHECK(rank_sum({0x1p24F, 1, 1, 1, 1, 1, 1, -0x1p24F}) == 0);
  CHECK(rank_sum({1, 1, 1, 1, 1, 1, 0x1p24F, -0x1p24F}) == 6);
  CHECK(std::signbit(rank_sum({-0.0F, -0.0F, -0.0F, -0.0F, -0.0F, -0.0F, -0.0F, -0.0F})));
}

TEST_CASE("slices are summed in groups of 7, then the groups") {
  std::array<float, kSlices> values{};
  values[0] = 0x1p24F;
  for (std::size_t i = 1; i < 7; ++i) values[i] = 1;  // each vanishes in slice 0's
  CHECK(slice_sum(values) == 0x1p24F);
  values[0] = 0;
  values[7] = 0x1p24F;
  CHECK(slice_sum(values) == 0x1p24F + 6);  // group 0 meets group 1 as a whole
}

TEST_CASE("the prefix takes the reduced output up, rounded once") {
  Rows rows({.tokens = 1, .nblocks = 1});
  rows.prefix[5] = bf16_bits(1);
  rows.delta[5] = bf16_bits(0x1p-8F);  // a tie, to even
  rows.prefix[6] = bf16_bits(1);
  rows.delta[6] = bf16_bits(0x1p-8F + 0x1p-15F);
  const ResidualResult result = rows.run();
  CHECK(result.prefix[5] == bf16_bits(1));
  CHECK(result.prefix[6] == bf16_bits(1 + 0x1p-7F));
}

TEST_CASE("with reset the prefix is the reduced output, whatever it was") {
  Rows rows = random_rows({.tokens = 2, .nblocks = 2, .reset = true}, 1);
  const ResidualResult result = rows.run();
  CHECK(result.prefix == rows.delta);
  std::ranges::fill(rows.prefix, BFloat16Bits{0x7FC0});
  CHECK(rows.run().x == result.x);
}

TEST_CASE("sources with equal scores are averaged, and x has root mean square 1") {
  Rows rows({.tokens = 1, .nblocks = 1, .out_eps = 0});
  for (std::size_t i = 0; i < kHidden; ++i) rows.blocks[i] = bf16_bits(i % 2 == 0 ? 3 : -3);
  for (std::size_t i = 0; i < kHidden; ++i) rows.prefix[i] = bf16_bits(i % 2 == 0 ? 1 : -1);
  const ResidualResult result = rows.run();
  CHECK(result.wgt == std::vector<float>{1, 1, 2});
  CHECK(result.x[0] == bf16_bits(1));
  CHECK(result.x[1] == bf16_bits(-1));
  CHECK(result.msq[0] == 128 * 4);  // mixed values of +-2
}

TEST_CASE("a much higher score takes all the weight") {
  Rows rows({.tokens = 1, .nblocks = 2});
  std::ranges::fill(rows.score, bf16_bits(1));
  for (std::size_t i = 0; i < kHidden; ++i) {
    rows.blocks[i] = bf16_bits(-1);
    rows.blocks[kHidden + i] = bf16_bits(i % 7 == 0 ? 2 : 1);
    rows.prefix[i] = bf16_bits(-1);
  }
  const ResidualResult result = rows.run();
  CHECK(result.wgt == std::vector<float>{0, 1, 0, 1});
  CHECK(std::fabs(bf16_value(result.x[0]) / bf16_value(result.x[1]) - 2) < 0.01F);
}

TEST_CASE("a slice's sums go through lanes of 4 columns, 16 apart first") {
  Rows rows({.tokens = 1, .nblocks = 1});
  rows.blocks[0] = bf16_bits(4096);  // its square, 2^24, absorbs single ones behind it
  for (std::size_t i = 1; i < 4; ++i) rows.blocks[i] = bf16_bits(1);
  CHECK(rows.run().part[0] == 0x1p24F);
  rows.blocks[4 * 16] = bf16_bits(1);
  rows.blocks[4 * 8] = bf16_bits(1);
  CHECK(rows.run().part[0] == 0x1p24F);
  rows.blocks[4 * 24] = bf16_bits(1);  // meets lane 8 first
  CHECK(rows.run().part[0] == 0x1p24F + 2);
}

TEST_CASE("x lies within its bounds of the wide reference for every number of sources") {
  for (int blocks = 1; blocks <= kMaxBlocks; ++blocks) {
    const K2Key key = {.tokens = 2, .nblocks = blocks, .reset = blocks % 2 == 0};
    const Rows rows = random_rows(key, static_cast<std::uint64_t>(blocks));
    const ResidualResult result = rows.run();
    ResidualInputs inputs = rows.inputs();
    inputs.prefix = result.prefix;
    for (std::size_t t = 0; t < 2; ++t) {
      const std::vector<WideValue> wide = wide_x(key, inputs, t);
      bool within = true;
      double slack = 0;
      for (std::size_t i = 0; i < kHidden; ++i) {
        const float low = reference::round_bf16(static_cast<float>(wide[i].value - wide[i].slack));
        const float high = reference::round_bf16(static_cast<float>(wide[i].value + wide[i].slack));
        const float x = bf16_value(result.x[t * kHidden + i]);
        within = within && low <= x && x <= high;
        if (std::fabs(x) < 1) slack = std::max(slack, wide[i].slack);
      }
      CHECK(within);
      CHECK(slack < kStep);
    }
  }
}

TEST_CASE("a row's result does not depend on the other rows") {
  const Rows rows = random_rows({.tokens = 3, .nblocks = 4}, 40);
  const ResidualResult all = rows.run();
  for (std::size_t t = 0; t < 3; ++t) {
    Rows alone({.tokens = 1, .nblocks = 4});
    const auto take = [&](const std::vector<BFloat16Bits>& from, std::size_t length) {
      const auto first = from.begin() + static_cast<std::ptrdiff_t>(t * length);
      return std::vector<BFloat16Bits>(first, first + static_cast<std::ptrdiff_t>(length));
    };
    alone.delta = take(rows.delta, kHidden);
    alone.prefix = take(rows.prefix, kHidden);
    alone.blocks = take(rows.blocks, 4 * kHidden);
    alone.norm = rows.norm;
    alone.score = rows.score;
    alone.in = rows.in;
    CHECK(alone.run().x == take(all.x, kHidden));
  }
}

}  // namespace
}  // namespace monojit::kernels::kimi_k3
