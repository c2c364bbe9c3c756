#include "cache/file_lock.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <unistd.h>

#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using testing::in_child;
using testing::ScratchFolder;
using testing::start_child;
using testing::wait_for_child;
using Wait = FileLock::Wait;
using State = FileLock::State;

TEST_CASE("a lock that is held is busy for others, in this process and in others, until it is released") {
  const ScratchFolder scratch;
  FileLock lock(scratch / "a.lock", Wait::kNever);
  REQUIRE(lock.state() == State::kHeld);
  CHECK(FileLock(scratch / "a.lock", Wait::kNever).state() == State::kBusy);
  CHECK(FileLock(scratch / "b.lock", Wait::kNever).state() == State::kHeld);
  const auto try_it = [&] { return FileLock(scratch / "a.lock", Wait::kNever).state() == State::kHeld ? 0 : 1; };
  CHECK(in_child(try_it) == 1);
  lock.release();
  CHECK(in_child(try_it) == 0);
}

TEST_CASE("a released lock leaves no file, also after it was moved") {
  const ScratchFolder scratch;
  {
    FileLock first(scratch / "a.lock", Wait::kNever);
    FileLock second(scratch / "b.lock", Wait::kNever);
    const FileLock moved(std::move(first));
    second = FileLock(scratch / "c.lock", Wait::kNever);
    CHECK(testing::count_files(scratch.path()) == 2);
  }
  CHECK(testing::count_files(scratch.path()) == 0);
}

TEST_CASE("threads that take a lock in turn never hold it together, though its file comes and goes") {
  constexpr int kThreads = 6;
  constexpr int kRounds = 50;
  constexpr auto kHold = std::chrono::microseconds(100);  // long enough for a wrong holder to be seen
  const ScratchFolder scratch;
  std::atomic<int> holders = 0;
  std::atomic<int> together = 0;
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const FileLock lock(scratch / "a.lock", Wait::kForever);
        if (lock.state() != State::kHeld || ++holders != 1) ++together;
        std::this_thread::sleep_for(kHold);
        --holders;
      }
    });
  }
  threads.clear();
  CHECK(together == 0);
  CHECK(testing::count_files(scratch.path()) == 0);
}

TEST_CASE("a killed holder's lock is free at once, and its file is taken over or swept") {
  const ScratchFolder scratch;
  const auto die_holding = [&](const char* name) {
    return in_child([&] {
      const FileLock lock(scratch / name, Wait::kNever);
      return ::kill(::getpid(), SIGKILL);
    });
  };
  REQUIRE(die_holding("a.lock") == 128 + SIGKILL);
  REQUIRE(die_holding("b.lock") == 128 + SIGKILL);
  CHECK(testing::count_files(scratch.path()) == 2);
  {
    const FileLock lock(scratch / "a.lock", Wait::kForever);
    CHECK(lock.state() == State::kHeld);
    FileLock::sweep(scratch.path());
    CHECK(std::filesystem::exists(scratch / "a.lock"));
    CHECK_FALSE(std::filesystem::exists(scratch / "b.lock"));
  }
  CHECK(testing::count_files(scratch.path()) == 0);
}

TEST_CASE("a released lock goes to the next, although a forked child of its holder lives on") {
  constexpr unsigned kPatienceSeconds = 30;
  const ScratchFolder scratch;
  const int waiter = start_child([&] {
    // Blocks on the very file that the holder below is about to release.
    while (!std::filesystem::exists(scratch / "a.lock")) std::this_thread::yield();
    ::alarm(kPatienceSeconds);
    return FileLock(scratch / "a.lock", Wait::kForever).state() == State::kHeld ? 0 : 1;
  });
  FileLock lock(scratch / "a.lock", Wait::kNever);
  const int child = start_child([] { return ::pause(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  lock.release();
  CHECK(wait_for_child(waiter) == 0);
  ::kill(child, SIGKILL);
  wait_for_child(child);
}

TEST_CASE("where no lock file can be, there is no lock, and the reason is told") {
  const ScratchFolder scratch;
  const FileLock lock(scratch / "missing/a.lock", Wait::kForever);
  CHECK(lock.state() == State::kUnavailable);
  CHECK(lock.error() == ENOENT);
  std::filesystem::create_symlink(scratch / "elsewhere", scratch / "link.lock");
  CHECK(FileLock(scratch / "link.lock", Wait::kForever).error() == ELOOP);
  CHECK_FALSE(std::filesystem::exists(scratch / "elsewhere"));
}

}  // namespace
}  // namespace monojit::cache
