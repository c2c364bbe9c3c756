#include <chrono>
#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/common/error.h"
#include "tools/rank_processes.h"

namespace monojit::tools {
namespace {

using Catch::Matchers::Matches;
using Message = RankProcesses::Message;

constexpr int kRanks = 3;
constexpr std::chrono::milliseconds kLong{100'000};
constexpr std::chrono::milliseconds kShort{500};

/// Messages of one exchange, however long the others take.
std::vector<Message> all_of(const runtime::Gather& gather, const Message& own) { return gather(own, kLong); }

Message message(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string text(const Message& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// All messages of each exchange, with a bar between ranks.
std::vector<std::string> served(RankProcesses& processes, std::chrono::milliseconds stopped_bound = kLong) {
  std::vector<std::string> rounds;
  processes.serve(stopped_bound, [&](std::span<const Message> messages) {
    std::string round;
    for (const Message& bytes : messages) round += text(bytes) + "|";
    rounds.push_back(round);
  });
  return rounds;
}

TEST_CASE("Every rank gets all ranks' messages, in their order") {
  RankProcesses processes(kRanks, [](int rank, const runtime::Gather& gather) {
    std::string all;
    for (const Message& bytes : all_of(gather, message(std::string(static_cast<std::size_t>(rank) + 1, 'x'))))
      all += text(bytes) + ",";
    (void)all_of(gather, message(std::to_string(rank) + " got " + all));
  });
  CHECK(served(processes) == std::vector<std::string>{"x|xx|xxx|", "0 got x,xx,xxx,|1 got x,xx,xxx,|2 got x,xx,xxx,|"});
  for (int rank = 0; rank < kRanks; ++rank) CHECK(processes.failure(rank).empty());
}

TEST_CASE("A rank that dies or throws sends nothing from then on; the others go on, and its end is known") {
  RankProcesses processes(kRanks, [](int rank, const runtime::Gather& gather) {
    (void)all_of(gather, message("first"));
    if (rank == 0) throw std::runtime_error("a test's rank that fails");
    if (rank == 1) (void)std::raise(SIGKILL);
    (void)all_of(gather, message("second"));
  });
  CHECK(served(processes) == std::vector<std::string>{"first|first|first|", "||second|"});
  CHECK(processes.failure(0) == "a test's rank that fails");
  CHECK(processes.failure(1) == "its process was killed by signal 9");
  CHECK(processes.failure(2).empty());
}

TEST_CASE("A rank that is stopped is ended after the bound, and those that wait for it go on") {
  RankProcesses processes(kRanks, [](int rank, const runtime::Gather& gather) {
    if (rank == 1) (void)std::raise(SIGSTOP);
    (void)all_of(gather, message("first"));
  });
  CHECK(served(processes, kShort) == std::vector<std::string>{"first||first|"});
  CHECK_THAT(processes.failure(1), Matches("its process [0-9]+ was stopped \\(SIGSTOP\\) for 0.5 s, and was ended"));
  CHECK(processes.failure(0).empty());
}

TEST_CASE("A rank that goes on within the bound has lost nothing, however often it was stopped") {
  RankProcesses processes(kRanks, [](int rank, const runtime::Gather& gather) {
    if (rank == 1) {
      const pid_t self = getpid();
      const pid_t waker = fork();
      if (waker == 0) {
        for (int turn = 0; turn < 4; ++turn) {
          (void)kill(self, SIGSTOP);
          (void)usleep(300'000);
          (void)kill(self, SIGCONT);
          (void)usleep(100'000);
        }
        _exit(0);
      }
      while (waitpid(waker, nullptr, 0) < 0) continue;
    }
    (void)all_of(gather, message("first"));
  });
  CHECK(served(processes, kShort) == std::vector<std::string>{"first|first|first|"});
  CHECK(processes.failure(1).empty());
}

TEST_CASE("A rank that sends nothing while others wait is ended after the exchange's bound") {
  RankProcesses processes(kRanks, [](int rank, const runtime::Gather& gather) {
    if (rank == 2) (void)pause();
    (void)gather(message("first"), kShort);
  });
  CHECK(served(processes) == std::vector<std::string>{"first|first||"});
  CHECK_THAT(processes.failure(2),
             Matches("its process [0-9]+ was not heard of for 0.5 s while others waited for it, and was ended"));
}

TEST_CASE("What the user has to mend is told apart from what else a rank throws") {
  RankProcesses processes(kRanks, [](int rank, const runtime::Gather&) {
    if (rank == 0) throw UserError("a setting");
    if (rank == 1) throw std::runtime_error("a device");
  });
  CHECK(served(processes).empty());
  CHECK(processes.refused(0));
  CHECK_FALSE(processes.refused(1));
  CHECK_FALSE(processes.refused(2));
  CHECK(processes.failure(0) == "a setting");
}

TEST_CASE("Ranks that nobody serves end with their owner") {
  const RankProcesses processes(kRanks, [](int, const runtime::Gather& gather) {
    for (;;) (void)all_of(gather, message("more"));
  });
}

}  // namespace
}  // namespace monojit::tools
