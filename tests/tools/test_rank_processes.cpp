#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tools/rank_processes.h"

namespace monojit::tools {
namespace {

using Message = RankProcesses::Message;

constexpr int kRanks = 3;

Message message(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string text(const Message& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// All messages of each exchange, with a bar between ranks.
std::vector<std::string> served(RankProcesses& processes) {
  std::vector<std::string> rounds;
  processes.serve([&](std::span<const Message> messages) {
    std::string round;
    for (const Message& bytes : messages) round += text(bytes) + "|";
    rounds.push_back(round);
  });
  return rounds;
}

TEST_CASE("Every rank gets all ranks' messages, in their order") {
  RankProcesses processes(kRanks, [](int rank, const runtime::Gather& gather) {
    std::string all;
    for (const Message& bytes : gather(message(std::string(static_cast<std::size_t>(rank) + 1, 'x'))))
      all += text(bytes) + ",";
    (void)gather(message(std::to_string(rank) + " got " + all));
  });
  CHECK(served(processes) == std::vector<std::string>{"x|xx|xxx|", "0 got x,xx,xxx,|1 got x,xx,xxx,|2 got x,xx,xxx,|"});
  for (int rank = 0; rank < kRanks; ++rank) CHECK(processes.failure(rank).empty());
}

TEST_CASE("A rank that dies or throws sends nothing from then on; the others go on, and its end is known") {
  RankProcesses processes(kRanks, [](int rank, const runtime::Gather& gather) {
    (void)gather(message("first"));
    if (rank == 0) throw std::runtime_error("a test's rank that fails");
    if (rank == 1) (void)std::raise(SIGKILL);
    (void)gather(message("second"));
  });
  CHECK(served(processes) == std::vector<std::string>{"first|first|first|", "||second|"});
  CHECK(processes.failure(0) == "a test's rank that fails");
  CHECK(processes.failure(1) == "its process was killed by signal 9");
  CHECK(processes.failure(2).empty());
}

TEST_CASE("Ranks that nobody serves end with their owner") {
  const RankProcesses processes(kRanks, [](int, const runtime::Gather& gather) {
    for (;;) (void)gather(message("more"));
  });
}

}  // namespace
}  // namespace monojit::tools
