// Processes that are killed at random moments of their life with a cache, hundreds of them.

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include <catch2/catch_test_macros.hpp>

#include "cache/cache.h"
#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using testing::example_entry;
using testing::example_key;
using testing::example_output;
using testing::ScratchFolder;
using testing::start_child;
using testing::wait_for_child;
using testing::WarningLog;

constexpr int kRounds = 300;
constexpr int kKeys = 8;
constexpr std::size_t kCodeBytes = 50'000;
constexpr std::uint64_t kMaxBytes = 5 * kCodeBytes;  // some keys are always evicted
constexpr std::uint64_t kSeed = 7;
constexpr int kMaxMicroseconds = 15'000;

/// Builds, hits, evictions and counts without an end.
int live(const std::filesystem::path& folder, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (;;) {
    WarningLog log;
    Cache cache({.folder = folder, .warn = log.callback(), .settings = {.limits = {.max_bytes = kMaxBytes}}});
    for (int i = 0; i < kKeys; ++i) {
      const int number = static_cast<int>(random() % kKeys);
      const Hit hit = cache.get_or_build(example_key(number), [&] { return example_output(number, kCodeBytes); });
      if (*hit.entry != example_entry(number, kCodeBytes)) return 2;
      if (random() % kKeys == 0) cache.drop(example_key(number));
    }
    if (!log.lines().empty()) return 3;
  }
}

TEST_CASE("whenever processes are killed, entries are whole, locks are free, and the next process clears up") {
  const ScratchFolder scratch;
  const auto folder = scratch / "cache";
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < kRounds; ++round) {
    const int first = start_child([&] { return live(folder, random()); });
    const int second = start_child([&] { return live(folder, random()); });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % kMaxMicroseconds));
    ::kill(first, SIGKILL);
    ::kill(second, SIGKILL);
    REQUIRE(wait_for_child(first) == 128 + SIGKILL);
    REQUIRE(wait_for_child(second) == 128 + SIGKILL);
    WarningLog log;
    const Warnings warnings(log.callback());
    for (const StoredEntry& entry : DiskStore(folder, warnings).list()) {
      CAPTURE(round, entry.file);
      REQUIRE(entry.problem.empty());
    }
  }
  WarningLog log;
  Cache cache({.folder = folder, .warn = log.callback(), .settings = {.limits = {.max_bytes = kMaxBytes}}});
  REQUIRE(cache.get_or_build(example_key(kKeys), [] { return BuildOutput{}; }).stored);
  cache.disk()->trim({.max_bytes = kMaxBytes, .max_age_s = 0});
  CHECK(std::filesystem::is_empty(folder / "tmp"));
  CHECK(std::filesystem::is_empty(folder / "locks"));
  CHECK(log.lines().empty());
  CHECK(Counters::read(folder)["minimax_m3.k1"]["builds"] > 0);
}

}  // namespace
}  // namespace monojit::cache
