#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>

#include "kernels/common/health.h"
#include "kernels/common/wait_record.h"
#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/roles.h"
#include "kernels/kimi_k3/k2/waits.h"
#include "tests/kernels/device/emulator_option.h"
#include "tests/kernels/device/k2_bench.h"

// What a rank that stalls, or has failed before, does to the others.
namespace {

using namespace monojit;
using namespace kernels::kimi_k3;

constexpr std::uint64_t kSeed = 51;
constexpr std::int32_t kEpoch = 7;
constexpr std::int32_t kSlot = back_slot(kFirstLayer);
constexpr K2Key kKey{.tokens = 1, .nblocks = 1};
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

/// Where a region stands in the order of the data.
std::ptrdiff_t stage_of(std::string_view region) {
  return std::ranges::find(kWaitRegions, region) - std::begin(kWaitRegions);
}

/// A workgroup that never runs.
struct Hung {
  int rank = 0;
  int workgroup = 0;

  /// What others miss first of it.
  std::string_view puts_first() const { return kResidual.contains(workgroup) ? "part" : "ar"; }
};

constexpr WorkgroupRange kRowsActivation{kSharedActivation.first, 1};  // of the one row
constexpr WorkgroupRange kRoles[] = {
    kResidual, kOutputProjection, kRowsActivation, kSharedGateUp, kRouter, kLatentDown,
    kDown,     kSharedDownRest,   kSharedDownOwn,  kLatentNorm,   kUp,     kFinalReduce};

/// A workgroup of every role, most of which have several.
constexpr Hung kOneOfEachRole[] = {{5, 0}, {0, 8}, {2, 56}, {4, 160}, {6, 188}, {3, 224}};
static_assert(std::ranges::all_of(kRoles, [](const WorkgroupRange& role) {
  return std::ranges::any_of(kOneOfEachRole, [&](const Hung& hung) { return role.contains(hung.workgroup); });
}));

/// The first and the last workgroup of every role, on one rank after the other.
std::vector<Hung> ends_of_each_role() {
  std::vector<Hung> all;
  for (const WorkgroupRange& role : kRoles) {
    for (const int workgroup : {role.first, role.end() - 1}) {
      if (std::ranges::find(all, workgroup, &Hung::workgroup) != all.end()) continue;
      all.push_back({.rank = static_cast<int>(all.size()) % kRanks, .workgroup = workgroup});
    }
  }
  return all;
}

/// Every record of the rank misses what the hung workgroup was to put first, from it, or something later.
void check_consequences(const kernels::BuildKey& key, const std::vector<std::uint32_t>& words, int rank, Hung hung) {
  for (const kernels::WaitRecord& record : kernels::wait_records(words, kWorkgroups, kWaitRegions).records) {
    INFO("workgroup " << record.workgroup << " missed pair " << record.pair << " of " << record.region);
    CHECK_FALSE((rank == hung.rank && record.workgroup == hung.workgroup));
    CHECK(stage_of(record.region) >= stage_of(hung.puts_first()));
    if (record.region != hung.puts_first()) continue;
    const auto source = wait_source(key, record.region, record.pair);
    REQUIRE(source);
    CHECK(source->rank.value_or(rank) == hung.rank);
    CHECK(source->workgroup == hung.workgroup);
  }
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

/// All ranks end, and each tells of a consequence.
void check_hang(tests::K2Bench& bench, const Hung& hung) {
  INFO("workgroup " << hung.workgroup << " of rank " << hung.rank);
  bench.fill(kKey, kSeed);
  bench.group().set_launch(kEpoch, kSlot);
  const tests::EmulatorOption stall(bench.group().hip(), "stall", fmt::format("{}:{}", hung.rank, hung.workgroup), "");
  CHECK_THROWS_WITH(bench.group().launch(kKey),
                    Catch::Matchers::ContainsSubstring(
                        fmt::format("stalled by MONOJIT_EMULATOR_STALL: workgroup {}", hung.workgroup)));
  for (int rank = 0; rank < kRanks; ++rank) {
    INFO("rank " << rank);
    const auto number = static_cast<std::size_t>(rank);
    const std::vector<std::uint32_t> words = health(bench, number);
    CHECK(words[0] == 1);
    CHECK(records(bench, number) > 0);
    CHECK(alarm(bench, number) == 1);
    check_consequences(tools::build_key(kKey), words, rank, hung);
  }
}

/// A launch behind one that failed: nobody waits long enough to leave a record.
void check_later_launch(tests::K2Bench& bench, const K2Key& key) {
  std::array<std::vector<std::uint32_t>, kRanks> before;
  for (std::size_t rank = 0; rank < kRanks; ++rank) before[rank] = health(bench, rank);
  bench.group().set_launch(kEpoch, kSlot + 1);
  bench.group().launch(key);
  for (std::size_t rank = 0; rank < kRanks; ++rank) CHECK(health(bench, rank) == before[rank]);
}

}  // namespace

TEST_CASE("Given a rank that stalls for 12 s, when K2 ran, then every rank records it, and later launches end",
          "[k2]") {
  tests::K2Bench bench;
  const K2Key key = stalled(3, 12);
  bench.fill(key, kSeed);
  bench.group().set_launch(kEpoch, kSlot);
  bench.group().launch(key);
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    INFO("rank " << rank);
    CHECK(health(bench, rank)[0] == 1);
    CHECK(records(bench, rank) > 0);
    CHECK(alarm(bench, rank) == 1);
  }
  check_later_launch(bench, key);
}

TEST_CASE("Given a workgroup of any role that hangs, when K2 ran, then every rank records a consequence", "[k2]") {
  tests::K2Bench bench;
  for (const Hung& hung : kOneOfEachRole) check_hang(bench, hung);
  check_later_launch(bench, kKey);
}

// Takes four minutes.
TEST_CASE("Given the first or last workgroup of any role hangs, when K2 ran, then later launches end, too",
          "[.][k2-hangs]") {
  tests::K2Bench bench;
  for (const Hung& hung : ends_of_each_role()) {
    check_hang(bench, hung);
    check_later_launch(bench, kKey);
  }
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
