#include <algorithm>
#include <array>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/health.h"
#include "kernels/kimi_k3/k2/layout.h"
#include "tests/kernels/device/k2_bench.h"

// What a rank that stalls, or has failed before, does to the others.
namespace {

using namespace monojit;
using namespace kernels::kimi_k3;

constexpr std::uint64_t kSeed = 51;
constexpr std::int32_t kEpoch = 7;
constexpr std::int32_t kSlot = back_slot(kFirstLayer);
constexpr int kTicksPerSecond = 100'000'000;

K2Key stalled(int rank, int seconds) {
  return {.tokens = 1,
          .nblocks = 1,
          .fault_rank = rank,
          .fault_epoch = kEpoch,
          .fault_layer = kSlot,
          .fault_ticks = seconds * kTicksPerSecond};
}

std::vector<std::uint32_t> health(const tests::K2Bench& bench, std::size_t rank) {
  const auto words = bench.rank(rank).of<std::uint32_t>("health");
  return {words.begin(), words.end()};
}

/// Records on a rank; each must name a region and its own workgroup.
int records(const tests::K2Bench& bench, std::size_t rank) {
  const std::vector<std::uint32_t> words = health(bench, rank);
  int count = 0;
  for (std::uint32_t workgroup = 0; workgroup + 1 < words.size() / kernels::kHealthRecordWords; ++workgroup) {
    const auto record = std::span(words).subspan((workgroup + 1) * kernels::kHealthRecordWords);
    if (record[0] == 0) continue;
    ++count;
    CHECK(record[0] == 1);
    CHECK(std::ranges::count(kWaitRegions, record[1], kernels::region_id) == 1);
    CHECK(record[3] == static_cast<std::uint32_t>(launch_tag(kEpoch, kSlot)));
    CHECK(record[5] == workgroup);
  }
  return count;
}

std::uint32_t alarm(const tests::K2Bench& bench, std::size_t rank) {
  return bench.rank(0).of<std::uint32_t>("peer")[rank];
}

}  // namespace

TEST_CASE("Given a rank that stalls for 12 s, when K2 ran, then every rank records it, and later launches end",
          "[k2]") {
  tests::K2Bench bench;
  const K2Key key = stalled(3, 12);
  bench.fill(key, kSeed);
  bench.group().set_launch(kEpoch, kSlot);
  bench.group().launch(key);
  std::array<std::vector<std::uint32_t>, kRanks> before;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    INFO("rank " << rank);
    before[rank] = health(bench, rank);
    CHECK(before[rank][0] == 1);
    CHECK(records(bench, rank) > 0);
    CHECK(alarm(bench, rank) == 1);
  }
  bench.group().set_launch(kEpoch, kSlot + 1);
  bench.group().launch(key);
  for (std::size_t rank = 0; rank < kRanks; ++rank) CHECK(health(bench, rank) == before[rank]);
}

TEST_CASE("Given a rank that stalls for 5 s, when K2 ran, then nobody gives up and all agrees", "[k2]") {
  tests::K2Bench bench;
  const K2Key key = stalled(3, 5);
  bench.fill(key, kSeed);
  bench.group().set_launch(kEpoch, kSlot);
  CHECK(bench.disagreement_of(key) == "");
}

TEST_CASE("Given ranks that failed before and one that stalls, when K2 ran, then it ends without records or alarms",
          "[k2]") {
  tests::K2Bench bench;
  const K2Key key = stalled(3, 12);
  bench.fill(key, kSeed);
  bench.group().set_launch(kEpoch, kSlot);
  for (std::size_t rank = 0; rank < kRanks; ++rank) bench.rank(rank).of<std::uint32_t>("health")[0] = 1;
  bench.group().launch(key);
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    CHECK(health(bench, rank)[0] == 1);
    CHECK(records(bench, rank) == 0);
    CHECK(alarm(bench, rank) == 0);
  }
}
