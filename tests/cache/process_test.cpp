// Several processes and one folder.

#include <array>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

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

/// Bytes that any process appends and any process counts.
class Tally {
 public:
  explicit Tally(std::filesystem::path file) : file_(std::move(file)) { testing::write_text(file_, ""); }
  void add() const {
    const Descriptor descriptor = open_file(file_, O_WRONLY | O_APPEND);
    if (write_all(descriptor.get(), std::array{std::byte{'x'}}) != 0) std::abort();
  }
  std::size_t count() const { return std::filesystem::file_size(file_); }
  void wait_for(std::size_t count_wanted) const {
    while (count() < count_wanted) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  std::filesystem::path file_;
};

/// Kills `writer` at a moment when it has a temporary file.
void kill_in_the_middle(int writer, const std::filesystem::path& temporary) {
  for (;;) {
    if (testing::count_files(temporary) > 0) {
      ::kill(writer, SIGSTOP);
      ::waitpid(writer, nullptr, WUNTRACED);
      if (testing::count_files(temporary) > 0) break;
      ::kill(writer, SIGCONT);
    }
    std::this_thread::yield();
  }
  ::kill(writer, SIGKILL);
}

TEST_CASE("processes that ask for a key at the same time build it once") {
  constexpr int kProcesses = 12;
  constexpr int kKeys = 3;
  const ScratchFolder scratch;
  const Tally ready(scratch / "ready");
  const Tally builds(scratch / "builds");
  std::vector<int> children;
  children.reserve(kProcesses);
  for (int p = 0; p < kProcesses; ++p) {
    children.push_back(start_child([&] {
      WarningLog log;
      Cache cache({.folder = scratch / "cache", .warn = log.callback()});
      ready.add();
      ready.wait_for(kProcesses);
      for (int number = 0; number < kKeys; ++number) {
        const Hit hit = cache.get_or_build(example_key(number), [&] {
          builds.add();
          std::this_thread::sleep_for(std::chrono::milliseconds(30));  // the others come while it lasts
          return example_output(number);
        });
        if (*hit.entry != example_entry(number)) return 2;
      }
      return log.lines().empty() ? 0 : 3;
    }));
  }
  for (const int child : children) CHECK(wait_for_child(child) == 0);
  CHECK(builds.count() == kKeys);
  CHECK(testing::count_files(scratch / "cache") == kKeys);
}

TEST_CASE("when the process that builds is killed, one that waits goes on at once") {
  const ScratchFolder scratch;
  const Tally building(scratch / "building");
  const Tally waiting(scratch / "waiting");
  const Tally builds(scratch / "builds");
  const int holder = start_child([&] {
    Cache cache(testing::in_folder(scratch / "cache"));
    cache.get_or_build(example_key(), [&]() -> BuildOutput {
      building.add();
      ::pause();
      return {};
    });
    return 0;
  });
  building.wait_for(1);
  constexpr int kWaiters = 2;
  std::vector<int> waiters;
  waiters.reserve(kWaiters);
  for (int w = 0; w < kWaiters; ++w) {
    waiters.push_back(start_child([&] {
      Cache cache(testing::in_folder(scratch / "cache"));
      waiting.add();
      const Hit hit = cache.get_or_build(example_key(), [&] {
        builds.add();
        return example_output();
      });
      return *hit.entry == example_entry() ? 0 : 2;
    }));
  }
  waiting.wait_for(kWaiters);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // they are in the lock by now
  CHECK(builds.count() == 0);
  ::kill(holder, SIGKILL);
  CHECK(wait_for_child(holder) == 128 + SIGKILL);
  for (const int waiter : waiters) CHECK(wait_for_child(waiter) == 0);
  CHECK(builds.count() == 1);
  CHECK(testing::count_files(scratch / "cache") == 1);
}

TEST_CASE("a process that waited for another's failing build builds itself") {
  const ScratchFolder scratch;
  const Tally building(scratch / "building");
  const Tally go(scratch / "go");
  const int failing = start_child([&] {
    Cache cache(testing::in_folder(scratch / "cache"));
    try {
      cache.get_or_build(example_key(), [&]() -> BuildOutput {
        building.add();
        go.wait_for(1);
        throw std::runtime_error("no such instruction");
      });
    } catch (const std::runtime_error&) {
      return 0;
    }
    return 2;
  });
  building.wait_for(1);
  const int other = start_child([&] {
    Cache cache(testing::in_folder(scratch / "cache"));
    go.add();
    const Hit hit = cache.get_or_build(example_key(), [] { return example_output(); });
    return hit.source == Source::kBuilt && hit.stored ? 0 : 2;
  });
  CHECK(wait_for_child(failing) == 0);
  CHECK(wait_for_child(other) == 0);
}

TEST_CASE("a writer killed at any moment leaves no entry that is not whole, and its debris is swept") {
  constexpr int kRounds = 40;
  constexpr int kMaxMicroseconds = 20'000;
  constexpr std::size_t kCodeBytes = 1'000'000;
  constexpr std::uint64_t kSeed = 42;
  const ScratchFolder scratch;
  const auto temporary = scratch / "cache/tmp";
  const Entry entry = example_entry(1, kCodeBytes);
  WarningLog log;
  const Warnings warnings(log.callback());
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < kRounds; ++round) {
    const bool in_the_middle = round % 2 == 0;
    const bool over_an_old_one = round % 4 < 2;
    const Tally stores(scratch / "stores");
    const int writer = start_child([&] {
      DiskStore store(scratch / "cache", warnings);
      for (;;) {
        if (!store.store(entry)) return 1;
        if (!over_an_old_one && !store.remove(entry.key.digest())) return 2;
        stores.add();
      }
    });
    stores.wait_for(1);
    if (in_the_middle) {
      kill_in_the_middle(writer, temporary);
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % kMaxMicroseconds));
      ::kill(writer, SIGKILL);
    }
    REQUIRE(wait_for_child(writer) == 128 + SIGKILL);
    if (in_the_middle) REQUIRE(testing::count_files(temporary) == 1);
    const DiskStore store(scratch / "cache", warnings);
    const auto found = store.lookup(entry.key);
    if (over_an_old_one || in_the_middle) REQUIRE((found != nullptr) == over_an_old_one);
    if (found) REQUIRE(*found == entry);
  }
  DiskStore store(scratch / "cache", warnings);
  REQUIRE(store.store(entry));
  CHECK(testing::count_files(scratch / "cache") == 1);
  CHECK(log.lines().empty());
}

TEST_CASE("readers only ever see whole entries while others write, remove and delete the folder") {
  constexpr auto kDuration = std::chrono::milliseconds(500);
  constexpr int kKeys = 4;
  const ScratchFolder scratch;
  const Tally stop(scratch / "stop");
  const auto until_stopped = [&](const std::function<bool(DiskStore&, int)>& act) {
    return start_child([&, act] {
      WarningLog log;
      const Warnings warnings(log.callback());
      DiskStore store(scratch / "cache", warnings);
      for (int i = 0; stop.count() == 0; ++i) {
        if (!act(store, i % kKeys)) return 2;
      }
      return log.lines().empty() ? 0 : 3;
    });
  };
  constexpr int kReaders = 2;
  std::vector<int> readers;
  std::vector<int> others;
  readers.reserve(kReaders);
  for (int r = 0; r < kReaders; ++r) {
    readers.push_back(until_stopped([](DiskStore& store, int number) {
      const auto found = store.lookup(example_key(number));
      return !found || *found == example_entry(number);
    }));
  }
  others.push_back(until_stopped([](DiskStore& store, int number) {
    store.store(example_entry(number));  // may lose its race with the removal of the folder, over and over
    return true;
  }));
  others.push_back(until_stopped([](DiskStore& store, int) {
    store.remove_all();
    return true;
  }));
  others.push_back(until_stopped([&](DiskStore& store, int) {
    std::error_code error;
    std::filesystem::remove_all(store.folder(), error);
    return true;
  }));
  std::this_thread::sleep_for(kDuration);
  stop.add();
  for (const int reader : readers) CHECK(wait_for_child(reader) == 0);
  for (const int other : others) {
    const int status = wait_for_child(other);
    CHECK((status == 0 || status == 3));
  }
}

}  // namespace
}  // namespace monojit::cache
