#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <utility>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using std::chrono::milliseconds;
using testing::example_key;
using testing::example_output;
using testing::ScratchFolder;
using testing::WarningLog;

BuildOutput plain_build() { return example_output(); }

/// A child that holds the lock of example_key() until it is killed.
class Holder {
 public:
  explicit Holder(const ScratchFolder& scratch) {
    int ends[2] = {};
    REQUIRE(::pipe(ends) == 0);
    process_ = testing::start_child([&] {
      Cache cache(testing::in_folder(scratch / "cache"));
      cache.get_or_build(example_key(), [&]() -> BuildOutput {
        (void)!::write(ends[1], "x", 1);
        for (;;) ::pause();
      });
      return 0;
    });
    char byte = 0;
    REQUIRE(::read(ends[0], &byte, 1) == 1);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() { kill(); }

  int process() const { return process_; }
  void stop() const {
    ::kill(process_, SIGSTOP);
    int status = 0;
    REQUIRE(::waitpid(process_, &status, WUNTRACED) == process_);
    REQUIRE(WIFSTOPPED(status));
  }
  void kill() {
    if (process_ < 0) return;
    ::kill(process_, SIGKILL);
    testing::wait_for_child(std::exchange(process_, -1));
  }

 private:
  int process_ = -1;
};

/// A cache that waits as `wait` says and keeps the lines in `log`.
CacheOptions waiting(const ScratchFolder& scratch, WarningLog& log, WaitOptions wait) {
  CacheOptions options = testing::in_folder(scratch / "cache");
  wait.say = log.callback();
  options.wait = std::move(wait);
  return options;
}

TEST_CASE("who waits for another process's build says for whom, again and again, and builds when that process dies") {
  const ScratchFolder scratch;
  Holder holder(scratch);
  WarningLog log;
  Cache cache(waiting(scratch, log, {.first = milliseconds(20), .next = milliseconds(20)}));
  std::jthread killer([&] {
    while (log.lines().size() < 3) std::this_thread::sleep_for(milliseconds(1));
    holder.kill();
  });
  const int process = holder.process();
  const Hit hit = cache.get_or_build(example_key(), plain_build);
  CHECK(hit.source == Source::kBuilt);
  CHECK(hit.wait_ms >= 60);
  for (const std::string& line : log.lines()) {
    CHECK_THAT(line,
               StartsWith(fmt::format("waiting for process {}, which builds {}", process, describe(example_key()))));
  }
}

TEST_CASE("a stopped process is not waited for") {
  const ScratchFolder scratch;
  const Holder holder(scratch);
  holder.stop();
  WarningLog log;
  Cache cache(waiting(scratch, log, {}));
  CHECK(cache.get_or_build(example_key(), plain_build).stored);
  CHECK_THAT(log.only(), StartsWith(fmt::format("process {}, which builds", holder.process())) &&
                             ContainsSubstring("is stopped: going on without it"));
}

TEST_CASE("a process that is stopped while it is waited for is waited for no longer") {
  const ScratchFolder scratch;
  const Holder holder(scratch);
  WarningLog log;
  Cache cache(waiting(scratch, log, {.first = milliseconds(20)}));
  std::jthread stopper([&] {
    while (log.lines().empty()) std::this_thread::sleep_for(milliseconds(1));
    holder.stop();
  });
  CHECK(cache.get_or_build(example_key(), plain_build).source == Source::kBuilt);
}

TEST_CASE("a wait ends after the longest time that the embedder allows") {
  const ScratchFolder scratch;
  const Holder holder(scratch);
  WarningLog log;
  Cache cache(waiting(scratch, log, {.longest = milliseconds(50)}));
  CHECK(cache.get_or_build(example_key(), plain_build).source == Source::kBuilt);
  CHECK_THAT(log.only(), ContainsSubstring("going on without it"));
}

TEST_CASE("a wait ends with what its interrupt throws, and builds nothing") {
  const ScratchFolder scratch;
  const Holder holder(scratch);
  WarningLog log;
  int asked = 0;
  Cache cache(waiting(scratch, log, {.interrupt = [&] {
                        if (++asked == 3) throw std::runtime_error("enough");
                      }}));
  int builds = 0;
  const auto build = [&] { return ++builds, example_output(); };
  CHECK_THROWS_AS(cache.get_or_build(example_key(), build), std::runtime_error);
  CHECK(builds == 0);
  CHECK(log.lines().empty());
}

TEST_CASE("a hit on disk waits for no process that builds the same key") {
  const ScratchFolder scratch;
  const Holder holder(scratch);
  holder.stop();
  WarningLog log;
  Cache(waiting(scratch, log, {})).get_or_build(example_key(), plain_build);
  Cache cache(waiting(scratch, log, {}));
  const Hit hit = cache.get_or_build(example_key(), plain_build);
  CHECK(hit.source == Source::kDisk);
  CHECK(hit.wait_ms == 0);
}

TEST_CASE("a lock's file of another machine names a process of another machine, which never counts as stopped") {
  const ScratchFolder scratch;
  testing::write_text(scratch / "a.lock", fmt::format("{} elsewhere/pid:[1]\n", ::getpid()));
  const auto holder = read_holder(scratch / "a.lock");
  REQUIRE(holder);
  CHECK(holder->text() == fmt::format("process {} of another machine or container", ::getpid()));
  CHECK_FALSE(holder->is_stopped());
}

TEST_CASE("a lock's file that tells nothing has no holder") {
  const ScratchFolder scratch;
  CHECK_FALSE(read_holder(scratch / "missing.lock"));
  for (const char* text : {"", "x", "12", "-3 a\n", "0 a\n", "99999999999999999999 a\n", "12 cut"}) {
    CAPTURE(text);
    testing::write_text(scratch / "a.lock", text);
    CHECK_FALSE(read_holder(scratch / "a.lock"));
  }
}

}  // namespace
}  // namespace monojit::cache
