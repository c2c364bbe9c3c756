#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>

#include "runtime/jit.h"
#include "tests/runtime/fake_device.h"
#include "tests/runtime/jit_workshop.h"

// What an engine counts on: nothing is built once it serves, and what is ready never waits.
namespace monojit::runtime {
namespace {

using cache::Source;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using tests::FakeDevice;
using tests::kArch;
using tests::tiny_key;
using tests::Workshop;

std::vector<kernels::BuildKey> tiny_keys(int count) {
  std::vector<kernels::BuildKey> keys;
  for (int i = 1; i <= count; ++i) keys.push_back(tiny_key(i));
  return keys;
}

/// A build of key 1 that lasts until this ends.
class LastingBuild {
 public:
  LastingBuild(Jit& jit, const Workshop& workshop) : builder_(*workshop.builder) {
    builder_.hold();
    thread_ = std::jthread([&jit] { jit.get(tiny_key(1), kArch); });
    builder_.wait_until_held();
  }
  LastingBuild(const LastingBuild&) = delete;
  LastingBuild& operator=(const LastingBuild&) = delete;
  ~LastingBuild() { builder_.let_go(); }

 private:
  tests::CountingBuilder& builder_;
  std::jthread thread_;
};

TEST_CASE("After warm, a launch compiles, reads and loads nothing, although the cache is gone") {
  const FakeDevice fake;
  const Workshop workshop;
  Jit jit = workshop.jit();
  const auto keys = tiny_keys(5);
  jit.get(keys[0], kArch);
  jit.warm(keys, fake.device());
  CHECK(workshop.builder->builds == 5);
  CHECK(fake.hip.loads == 5);
  std::filesystem::remove_all(workshop.folder);

  const JitCounters warmed = jit.counters();
  CHECK(warmed == JitCounters{.builds = 5, .disk_reads = 0, .memory_hits = 1, .module_loads = 5, .refusals = 0});
  for (const kernels::BuildKey& key : keys) {
    jit.prepare(key, fake.device())->launch(std::vector<ArgumentValue>{nullptr, 5, std::int64_t{6}, 7.0F}, nullptr);
  }
  const JitCounters launched = jit.counters();
  CHECK(launched.builds == warmed.builds);
  CHECK(launched.disk_reads == warmed.disk_reads);
  CHECK(launched.module_loads == warmed.module_loads);
  CHECK(fake.hip.loads == 5);
  CHECK(fake.hip.launches == 5);
}

TEST_CASE("Warming what is on disk reads it and compiles nothing") {
  const FakeDevice fake;
  const Workshop workshop;
  const auto keys = tiny_keys(3);
  workshop.jit().warm(keys, fake.device());
  Jit jit = workshop.jit();
  jit.warm(keys, fake.device());
  CHECK(jit.counters() ==
        JitCounters{.builds = 0, .disk_reads = 3, .memory_hits = 0, .module_loads = 3, .refusals = 0});
}

TEST_CASE("Warming tries every key and names those that failed") {
  const FakeDevice fake;
  const Workshop workshop;
  workshop.builder->fails_for = {2, 4};
  Jit jit = workshop.jit();
  CHECK_THROWS_MATCHES(jit.warm(tiny_keys(5), fake.device()), WarmError,
                       MessageMatches(ContainsSubstring("workgroups=2") && ContainsSubstring("workgroups=4") &&
                                      !ContainsSubstring("workgroups=3")));
  CHECK(jit.counters().module_loads == 3);
}

TEST_CASE("A rank's verdict says what it did, and ranks with the same kernels agree, however they came by them") {
  const FakeDevice fake;
  const Workshop workshop;
  const auto keys = tiny_keys(3);
  const Verdict built = workshop.jit().try_warm(keys, fake.device());
  Jit reader = workshop.jit();
  const Verdict read = reader.try_warm(keys, fake.device());
  const Verdict held = reader.try_warm(keys, fake.device());
  CHECK((built.built == 3 && built.read == 0 && built.held == 0));
  CHECK((read.built == 0 && read.read == 3 && read.held == 0));
  CHECK((held.built == 0 && held.read == 0 && held.held == 3));
  CHECK(built.toolchain == kPinnedToolchain);
  CHECK(verdict_from_json(to_json_text(read)) == read);
  CHECK(disagreements(std::vector{built, read, held}).empty());
}

TEST_CASE("Ranks of which one could not prepare, wants other keys or has other code are told which") {
  const FakeDevice fake;
  const Workshop workshop;
  const auto keys = tiny_keys(2);
  const Verdict ready = workshop.jit().try_warm(keys, fake.device());
  const Verdict more = workshop.jit().try_warm(tiny_keys(3), fake.device());
  std::filesystem::remove_all(workshop.folder);
  workshop.builder->more_bytes = 1;
  const Verdict other = workshop.jit().try_warm(keys, fake.device());
  const Verdict missing = workshop.jit(true).try_warm(tiny_keys(3), fake.device());
  CHECK(missing.reasons.size() == 1);
  const std::vector<std::string> found = disagreements(std::vector{ready, more, other, missing});
  REQUIRE(found.size() == 3);
  CHECK(found[0] == "rank 1: has other keys than rank 0, or another build of monojit");
  CHECK_THAT(found[1], ContainsSubstring("rank 2: has other code than rank 0 (llvm-"));
  CHECK_THAT(found[2], ContainsSubstring("rank 3: tests.tiny{workgroups=3} for gfx950 is not in the cache"));
  CHECK_THROWS_AS(verdict_from_json("{}"), std::runtime_error);
}

TEST_CASE("A rank that hits is ready while another builds: neither waits for the other") {
  const FakeDevice fake;
  const Workshop workshop;
  const auto keys = tiny_keys(2);
  workshop.jit().get(keys[1], kArch);
  Jit hitting = workshop.jit();
  Jit building = workshop.jit();
  const LastingBuild build(building, workshop);  // would never end if the other rank waited for it
  const Verdict verdict = hitting.try_warm(std::span(keys).subspan(1), fake.device());
  CHECK(verdict.ok());
  CHECK(verdict.read == 1);
}

TEST_CASE("A builder that takes several kernels at a time gets them when they are warmed") {
  const FakeDevice fake;
  const Workshop workshop;
  workshop.builder->jobs_worth = 3;
  workshop.builder->gathers = 3;  // no build ends before three run
  workshop.jit().warm(tiny_keys(3), fake.device());
  CHECK(workshop.builder->builds == 3);
}

TEST_CASE("After seal a compile is an error that tells the key and how to warm it; hits go on") {
  const FakeDevice fake;
  const Workshop workshop;
  workshop.jit().get(tiny_key(2), kArch);
  Jit jit = workshop.jit();
  jit.get(tiny_key(1), kArch);
  jit.seal();
  CHECK(jit.get(tiny_key(1), kArch).source == Source::kMemory);
  CHECK(jit.get(tiny_key(2), kArch).source == Source::kDisk);
  try {
    jit.prepare(tiny_key(3), fake.device());
    FAIL("it was built");
  } catch (const SealedError& error) {
    CHECK(error.key() == "tests.tiny{workgroups=3}");
    CHECK(error.arch() == kArch);
    CHECK(error.command() == fmt::format("monojit warm 'tests.tiny{{workgroups=3}}' --arch gfx950 --cache-dir '{}'",
                                         workshop.folder.string()));
    CHECK_THAT(error.what(), ContainsSubstring("nothing is compiled after seal(): run " + error.command()));
  }
  CHECK(workshop.builder->builds == 2);
  CHECK(jit.counters().refusals == 1);
}

TEST_CASE("A sealed Jit refuses the very key that is being built at once, without waiting for it") {
  const Workshop workshop;
  Jit jit = workshop.jit();
  const LastingBuild build(jit, workshop);
  jit.seal();
  CHECK_THROWS_AS(jit.get(tiny_key(1), kArch), SealedError);
}

TEST_CASE("Hits in memory and on disk, and modules that are loaded, wait for no build") {
  const FakeDevice fake;
  const Workshop workshop;
  workshop.jit().get(tiny_key(3), kArch);
  Jit jit = workshop.jit();
  jit.prepare(tiny_key(2), fake.device());
  const LastingBuild build(jit, workshop);  // would never end if one of these waited for it
  CHECK(jit.get(tiny_key(2), kArch).source == Source::kMemory);
  CHECK(jit.get(tiny_key(3), kArch).source == Source::kDisk);
  CHECK(jit.prepare(tiny_key(2), fake.device()) != nullptr);
  CHECK(jit.contains(tiny_keys(3), kArch) == false);
  CHECK(jit.missing(tiny_keys(3), kArch) == std::vector{tiny_key(1)});
}

TEST_CASE("What is missing of a thousand keys is known without reading or building one, in well under a second") {
  constexpr int kStored = 50;
  constexpr int kKeys = 1000;
  constexpr auto kAllowed = std::chrono::milliseconds(500);  // 25 times the aim, for a machine that is busy
  const Workshop workshop;
  {
    Jit jit = workshop.jit();
    for (const kernels::BuildKey& key : tiny_keys(kStored)) jit.get(key, kArch);
  }
  std::vector<kernels::BuildKey> keys;
  for (int i = 0; i < kKeys; ++i) keys.push_back(tiny_key(i % kStored + 1));
  const Jit jit = workshop.jit();
  const int built = workshop.builder->builds;
  const auto start = std::chrono::steady_clock::now();
  CHECK(jit.contains(keys, kArch));
  CHECK(std::chrono::steady_clock::now() - start < kAllowed);
  keys.push_back(tiny_key(kStored + 1));
  CHECK(jit.missing(keys, kArch) == std::vector{keys.back()});
  CHECK_FALSE(jit.contains(keys, kArch));
  CHECK(jit.counters() == JitCounters{});
  CHECK(workshop.builder->builds == built);
}

TEST_CASE("A long build says what it will do, then what it is at, again and again") {
  const Workshop workshop;
  std::mutex mutex;
  std::condition_variable heard;
  std::vector<std::string> lines;
  JitOptions options = workshop.options();
  options.patience = {.first = std::chrono::milliseconds(5), .next = std::chrono::milliseconds(5)};
  options.progress = [&](std::string_view text) {
    const std::scoped_lock lock(mutex);
    lines.emplace_back(text);
    heard.notify_all();
  };
  Jit jit(options);
  {
    const LastingBuild build(jit, workshop);
    std::unique_lock lock(mutex);
    heard.wait(lock, [&] { return lines.size() >= 3; });
  }
  CHECK_THAT(lines[0], ContainsSubstring("building tests.tiny{workgroups=1} for gfx950: emit IR, optimise"));
  CHECK_THAT(lines[2], ContainsSubstring("building tests.tiny{workgroups=1} for gfx950 (") &&
                           ContainsSubstring("s so far, now counting)"));
}

TEST_CASE("A short build says nothing of itself") {
  const Workshop workshop;
  std::atomic<int> lines = 0;
  JitOptions options = workshop.options();
  options.progress = [&](std::string_view) { ++lines; };
  Jit(options).get(tiny_key(1), kArch);
  CHECK(lines == 0);
}

}  // namespace
}  // namespace monojit::runtime
