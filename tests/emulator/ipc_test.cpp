// One process a rank: device memory shared through IPC handles, persistent kernels that wait on each other across
// processes, and a rank that dies.
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <hip/hip_runtime_api.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/emulator/emulator.h"
#include "tests/emulator/ring.h"

namespace monojit::emulator::test {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr int kRanks = 8;
constexpr int kTurns = 20;
constexpr int kPatienceMilliseconds = 120'000;  // for a busy machine
// If time did not jump, the limit of 10 s would pass on the wall.
constexpr std::chrono::seconds kMostAfterDeath{8};

/// A rank's process, its standard input and output.
class Rank {
 public:
  Rank(int rank, int ranks, const std::string& way, int turns = kTurns) {
    int in[2], out[2];
    REQUIRE(pipe(in) == 0);
    REQUIRE(pipe(out) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    for (const int end : {in[0], in[1], out[0], out[1]}) posix_spawn_file_actions_addclose(&actions, end);
    std::string words[] = {MONOJIT_TEST_IPC_RANK, std::to_string(rank), std::to_string(ranks), std::to_string(turns),
                           way};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), words[4].data(), nullptr};
    REQUIRE(posix_spawn(&pid_, words[0].c_str(), &actions, nullptr, arguments, environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    input_ = in[1];
    output_ = out[0];
  }
  ~Rank() {
    if (pid_ > 0) kill(), wait();
    close(input_);
    close(output_);
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  void kill() const { ::kill(pid_, SIGKILL); }
  void stop() const { ::kill(pid_, SIGSTOP); }
  void go_on() const { ::kill(pid_, SIGCONT); }
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void send(const void* bytes, std::size_t count) const {
    REQUIRE(write(input_, bytes, count) == static_cast<ssize_t>(count));
  }
  void receive(void* bytes, std::size_t count) const {
    for (std::size_t got = 0; got < count;) {
      pollfd ready{output_, POLLIN, 0};
      REQUIRE(poll(&ready, 1, kPatienceMilliseconds) == 1);
      const ssize_t more = read(output_, static_cast<char*>(bytes) + got, count - got);
      REQUIRE(more > 0);
      got += static_cast<std::size_t>(more);
    }
  }
  template <class T>
  T receive() const {
    T value{};
    receive(&value, sizeof value);
    return value;
  }

 private:
  pid_t pid_ = 0;
  int input_ = -1;
  int output_ = -1;
};

using Group = std::vector<std::unique_ptr<Rank>>;

void exchange(const Group& group) {
  std::vector<hipIpcMemHandle_t> handles;
  for (const auto& rank : group) handles.push_back(rank->receive<hipIpcMemHandle_t>());
  for (const auto& rank : group) rank->send(handles.data(), handles.size() * sizeof(hipIpcMemHandle_t));
}

/// A process for each of the ways, all of which have launched their kernels.
Group launched(const std::vector<std::string>& ways, int turns = kTurns) {
  const int count = static_cast<int>(ways.size());
  Group group;
  for (int i = 0; i < count; ++i) group.push_back(std::make_unique<Rank>(i, count, ways[i], turns));
  exchange(group);
  for (const auto& rank : group) REQUIRE(rank->receive<char>() == 'L');
  return group;
}

/// Lets the processes go, and waits for their ends: all, or all but the one that was killed or launched nothing.
void finish(const Group& group, int but = -1) {
  for (int i = 0; i < static_cast<int>(group.size()); ++i) {
    if (i != but) group[i]->send("g", 1);
  }
  for (int i = 0; i < static_cast<int>(group.size()); ++i) {
    if (i != but) CHECK(group[i]->wait() == 0);
  }
}

TEST_CASE("eight processes pass a token round through memory that they share") {
  const Group group = launched(std::vector<std::string>(kRanks, "run"));
  for (const auto& rank : group) CHECK(rank->receive<std::uint32_t>() == kCameRound);
  finish(group);
}

TEST_CASE("when a rank dies, the others' time limits end at once and their kernels tell") {
  const Group group = launched({"run", "stall", "run"});
  group[1]->kill();
  CHECK(group[1]->wait() == -1);
  const auto died = std::chrono::steady_clock::now();
  for (const int i : {0, 2}) CHECK(group[i]->receive<std::uint32_t>() == kTimeOut);
  CHECK(std::chrono::steady_clock::now() - died < kMostAfterDeath);
  finish(group, 1);
}

TEST_CASE("when a rank's host sleeps and launches nothing, the others' time limits end soon") {
  const Group group = launched({"run", "stall", "run"});
  const auto launched = std::chrono::steady_clock::now();
  for (const int i : {0, 2}) CHECK(group[i]->receive<std::uint32_t>() == kTimeOut);
  CHECK(std::chrono::steady_clock::now() - launched < kMostAfterDeath);
  finish(group, 1);
}

TEST_CASE("when a rank's workgroup hangs, the others' time limits end, and its own launch fails though they live") {
  const Group group = launched({"run", "hang", "run"});
  for (const int i : {0, 1, 2}) CHECK(group[i]->receive<std::uint32_t>() == (i == 1 ? kFailed : kTimeOut));
  finish(group);
}

TEST_CASE("waits without a time limit fail as a deadlock once the rank that they wait for has failed and sleeps") {
  const Group group = launched({"endless", "hang", "endless"});
  for (const auto& rank : group) CHECK(rank->receive<std::uint32_t>() == kFailed);
  finish(group);
}

TEST_CASE("a rank that is stopped is waited for in real time, until the others' time limits end") {
  constexpr int kEndless = 1'000'000'000;
  constexpr std::chrono::milliseconds kUnderWay{200};
  const Group group = launched({"brief", "brief", "brief"}, kEndless);
  std::this_thread::sleep_for(kUnderWay);
  group[1]->stop();
  const auto stopped = std::chrono::steady_clock::now();
  for (const int i : {0, 2}) CHECK(group[i]->receive<std::uint32_t>() == kTimeOut);
  const auto waited = std::chrono::steady_clock::now() - stopped;
  // The clock neither jumped nor stood still.
  CHECK(waited > std::chrono::seconds(kBriefSeconds) / 2);
  CHECK(waited < std::chrono::seconds(kBriefSeconds) + kMostAfterDeath);
  group[1]->go_on();
  CHECK(group[1]->receive<std::uint32_t>() == kTimeOut);
  finish(group);
}

TEST_CASE("a rank that is stopped for less than the others' time limits takes up its part again") {
  constexpr int kManyTurns = 3'000;
  constexpr std::chrono::milliseconds kPause{500};
  const Group group = launched({"run", "run", "run"}, kManyTurns);
  group[1]->stop();
  std::this_thread::sleep_for(kPause);
  group[1]->go_on();
  for (const auto& rank : group) CHECK(rank->receive<std::uint32_t>() == kCameRound);
  finish(group);
}

TEST_CASE("handles that lead nowhere are refused with the reason") {
  hipIpcMemHandle_t handle{};
  void* pointer = nullptr;
  CHECK(hipIpcOpenMemHandle(&pointer, handle, hipIpcMemLazyEnablePeerAccess) == hipErrorInvalidValue);
  CHECK_THAT(std::string(monojitEmulatorLastFault()), ContainsSubstring("not an IPC memory handle"));
  int on_stack = 0;
  CHECK(hipIpcGetMemHandle(&handle, &on_stack) == hipErrorInvalidValue);
  CHECK_THAT(std::string(monojitEmulatorLastFault()), ContainsSubstring("not device memory"));
  CHECK(hipIpcCloseMemHandle(&on_stack) == hipErrorInvalidValue);
  {
    const Rank rank(0, 1, "stall");
    handle = rank.receive<hipIpcMemHandle_t>();
  }
  CHECK(hipIpcOpenMemHandle(&pointer, handle, hipIpcMemLazyEnablePeerAccess) == hipErrorInvalidValue);
  CHECK_THAT(std::string(monojitEmulatorLastFault()), ContainsSubstring("is gone"));
}

TEST_CASE("exported memory keeps its contents, and a handle of its middle opens there") {
  char* memory = nullptr;
  REQUIRE(hipMalloc(reinterpret_cast<void**>(&memory), 100'000) == hipSuccess);
  const std::string text = "before the export";
  REQUIRE(hipMemcpy(memory + 70'000, text.data(), text.size(), hipMemcpyHostToDevice) == hipSuccess);
  hipIpcMemHandle_t handle;
  REQUIRE(hipIpcGetMemHandle(&handle, memory + 70'000) == hipSuccess);
  char* opened = nullptr;
  REQUIRE(hipIpcOpenMemHandle(reinterpret_cast<void**>(&opened), handle, hipIpcMemLazyEnablePeerAccess) == hipSuccess);
  CHECK(opened != memory + 70'000);
  CHECK(std::memcmp(opened, text.data(), text.size()) == 0);
  opened[0] = 'B';
  CHECK(memory[70'000] == 'B');
  CHECK(hipFree(opened - 70'000) == hipErrorInvalidValue);
  CHECK_THAT(std::string(monojitEmulatorLastFault()), ContainsSubstring("use hipIpcCloseMemHandle"));
  CHECK(hipIpcCloseMemHandle(opened) == hipSuccess);
  CHECK(hipFree(memory) == hipSuccess);
}

}  // namespace
}  // namespace monojit::emulator::test
