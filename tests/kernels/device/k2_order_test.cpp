#include <algorithm>
#include <array>
#include <cstdint>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/bfloat16.h"
#include "tests/kernels/device/k2_bench.h"
#include "tests/kernels/device/k2_directed.h"

// Values of which a sum in another order than the specification's has other bits.
namespace {

using namespace monojit;
using namespace kernels::kimi_k3;
using kernels::reference::bf16_bits;
using kernels::reference::bf16_value;
using kernels::reference::BFloat16Bits;
using kernels::reference::round_bf16;
using RankValues = std::array<float, kRanks>;

constexpr K2Key kKey{.tokens = 1, .nblocks = 1, .reset = true};
constexpr std::int64_t kColumn = 100;  // of x, the one that is not zero

float sum_in_order(const RankValues& values) {
  float sum = values[0];
  for (int rank = 1; rank < kRanks; ++rank) sum += values[static_cast<std::size_t>(rank)];
  return sum;
}

/// `values` in the column of a region of bf16 pairs, [source][token][word].
RankValues pushed(const tests::DirectedK2& launch, const kernels::Region& region, std::size_t column) {
  RankValues values{};
  for (int source = 0; source < kRanks; ++source) {
    values[static_cast<std::size_t>(source)] = launch.peer(3).bf16_element(region, region.at(source, 0, 0), column);
  }
  return values;
}

}  // namespace

TEST_CASE("Given partials that cancel, when K2 ran, then the output's are added up in the order of the ranks", "[k2]") {
  tests::DirectedK2 launch(kKey);
  launch.set_x(0, kColumn);
  constexpr RankValues kAtEnd = {0x1p30F, 1, 1, 1, 1, 1, 1, -0x1p30F};
  constexpr RankValues kAtOnce = {1, 1, 1, 1, 1, 1, 0x1p24F, -0x1p24F};
  constexpr int kFirst = 3000;
  for (int rank = 0; rank < kRanks; ++rank) {
    launch.set(rank, "w_sgu", kColumn, 1);  // one intermediate of the shared expert
    launch.set(rank, "w_sgu", std::int64_t{kSharedIntermediate} * kHidden + kColumn, 1);
    launch.set(rank, "w_sd", std::int64_t{kFirst} * kSharedIntermediate, kAtEnd[static_cast<std::size_t>(rank)]);
    launch.set(rank, "w_sd", std::int64_t{kFirst + 1} * kSharedIntermediate, kAtOnce[static_cast<std::size_t>(rank)]);
  }
  CHECK(launch.disagreement() == "");
  const kernels::Region& region = launch.peer_regions().final_;
  const RankValues at_once = pushed(launch, region, kFirst + 1);
  CHECK(at_once[0] > 1);
  CHECK(at_once[7] == -at_once[0] * 0x1p24F);
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto out = launch.rank(rank).of<BFloat16Bits>("out");
    CHECK(out[kFirst] == 0);
    CHECK(bf16_value(out[kFirst + 1]) == round_bf16(sum_in_order(at_once)));
    CHECK(bf16_value(out[kFirst + 1]) > 5 * at_once[0]);
  }
}

TEST_CASE("Given small partials below zero, when K2 ran, then eight zeros with a minus sign stay one", "[k2]") {
  tests::DirectedK2 launch(kKey);
  for (int rank = 0; rank < kRanks; ++rank) {
    launch.set(rank, "core", 0, 0x1p-70F);
    launch.set(rank, "w_o", std::int64_t{10} * kCoreWidth, -0x1p-70F);  // -2^-140, which bf16 has as -0
  }
  CHECK(launch.disagreement() == "");
  CHECK(launch.rank(2).of<BFloat16Bits>("prefix")[10] == 0x8000);
  CHECK(launch.rank(2).of<BFloat16Bits>("prefix")[11] == 0);
}

TEST_CASE("Given experts of very different size, when K2 ran, then picks are added in their order and ranks in theirs",
          "[k2]") {
  tests::DirectedK2 launch(kKey);
  launch.set_x(0, kColumn);
  constexpr int kLatentIn = 5 * kRankLatent + 9;
  constexpr int kIntermediateRow = 70;
  launch.set_all("w_ld", std::int64_t{kLatentIn} * kHidden + kColumn, 2);
  constexpr int kLargeFirst = 1234;  // latent rows, of which the slices are not the same
  constexpr int kLargeLast = 1500;
  constexpr int kAtEnd = 2000;
  constexpr int kAtOnce = 3000;
  constexpr unsigned kOne = 2;  // E2M1
  constexpr unsigned kMinusOne = 10;
  constexpr unsigned kUnit = 127;                         // scale code of 1
  for (int expert = 0; expert < kTopExperts; ++expert) {  // all picked, in this order, with equal weights
    launch.set_expert_all(kGateUpMatrix, expert, kIntermediateRow, kLatentIn, 4, kUnit);
    launch.set_expert_all(kGateUpMatrix, expert, kIntermediate + kIntermediateRow, kLatentIn, 4, kUnit);
    const auto scale = [&](int large) { return expert == large ? kUnit + 10 : kUnit; };
    launch.set_expert_all(kDownMatrix, expert, kLargeFirst, kIntermediateRow, kOne, scale(0));
    launch.set_expert_all(kDownMatrix, expert, kLargeLast, kIntermediateRow, kOne, scale(kTopExperts - 1));
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto set = [&](int row, int large) {
      const bool is_large = rank == large || rank == kRanks - 1;
      set_expert_operand(launch.rank(rank), kDownMatrix, 0, row, kIntermediateRow,
                         rank == kRanks - 1 ? kMinusOne : kOne, is_large ? kUnit + 24 : kUnit);
    };
    set(kAtEnd, 0);
    set(kAtOnce, kRanks - 2);
  }
  CHECK(launch.disagreement() == "");

  const kernels::Region& region = launch.peer_regions().latr;
  const RankValues at_end = pushed(launch, region, kAtEnd);
  const RankValues at_once = pushed(launch, region, kAtOnce);
  const float one = at_end[1];  // what an expert's unit counts
  CHECK(one > 0);
  CHECK(at_end[0] == one * 0x1p24F);
  CHECK(pushed(launch, region, kLargeFirst)[4] == one * 0x1p10F);  // those that follow get lost one by one
  CHECK(pushed(launch, region, kLargeLast)[4] > one * 0x1p10F);

  const ScratchLayout& s = launch.regions();
  const tests::DirectedK2& done = launch;
  for (int rank = 0; rank < kRanks; ++rank) {
    const Mail scratch = done.scratch(rank);
    CHECK(scratch.row(s.ln)[kAtEnd] == 0);
    const float left = round_bf16(sum_in_order(at_once));
    CHECK(left > 5 * one);
    CHECK(scratch.float_value(s.lmsq, s.lmsq.at(kAtOnce / kSliceColumns, 0)) == left * left);
  }
}

TEST_CASE("Given ranks 0 and 7 that cancel at 2^20 times the others, when K2 ran, then the reference's order agrees",
          "[k2]") {
  tests::K2Bench bench;
  bench.fill(kKey, 3);
  bench.group().set_launch(4, back_slot(kFirstLayer));
  const auto copy = [&](std::string_view name) {
    std::ranges::copy(bench.rank(0).of<BFloat16Bits>(name), bench.rank(7).of<BFloat16Bits>(name).begin());
  };
  const auto cancel = [&](std::string_view name) {
    for (BFloat16Bits& weight : bench.rank(0).of<BFloat16Bits>(name)) weight = bf16_bits(bf16_value(weight) * 0x1p20F);
    copy(name);
    for (BFloat16Bits& weight : bench.rank(7).of<BFloat16Bits>(name)) weight ^= 0x8000;
  };
  for (const auto* name : {"core", "w_sgu"}) copy(name);
  for (const auto* name : {"w_o", "w_sd"}) cancel(name);
  CHECK(bench.disagreement_of(kKey) == "");
}
