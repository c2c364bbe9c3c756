#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "runtime/group_step.h"
#include "runtime/hip/device_error.h"
#include "runtime/peer_group.h"
#include "tests/runtime/fake_device.h"

namespace monojit::runtime {
namespace {

using Catch::Matchers::ContainsSubstring;
using kernels::PeerState;
using tests::FakeDevice;

constexpr PeerState kState{.ranks = 2, .scratch_bytes = 64, .health_bytes = 96, .peer_bytes = 1024, .peer_head = 256};

std::uint64_t word(const void* memory, std::size_t index) {
  std::uint64_t value = 0;
  std::memcpy(&value, static_cast<const std::byte*>(memory) + index * sizeof value, sizeof value);
  return value;
}

std::uint64_t address(const void* memory) { return reinterpret_cast<std::uint64_t>(memory); }

/// A kernel that takes what a group gives.
constexpr kernels::Argument argument(std::string_view name, kernels::ArgumentType type) {
  return {.name = name, .type = type, .alignment = 0, .written = false, .meaning = ""};
}
constexpr kernels::Argument pointer(std::string_view name) { return argument(name, kernels::ArgumentType::kPointer); }
constexpr kernels::Argument kArguments[] = {pointer("alarm"),
                                            pointer("epoch"),
                                            pointer("health"),
                                            pointer("peers"),
                                            argument("rank", kernels::ArgumentType::kInt32),
                                            pointer("scratch")};
const kernels::Family& family() {
  static const kernels::Family family = [] {
    kernels::Family made{};
    made.name = "tests.group";
    made.arguments = kArguments;
    return made;
  }();
  return family;
}

/// Two threads that take turns, as the fake library knows of no threads, and an all-gather between them.
class Exchange {
 public:
  /// Runs what belongs to a rank, but for its waits alone.
  template <class Act>
  void run(Act&& act) {
    turn_.lock();
    act();
    turn_.unlock();
  }
  std::vector<std::vector<std::byte>> gather(std::size_t rank, std::span<const std::byte> own) {
    std::unique_lock lock(turn_, std::adopt_lock);
    const std::size_t round = rounds_[rank]++;
    if (messages_.size() == round) messages_.emplace_back(2);
    messages_[round][rank].assign(own.begin(), own.end());
    came_.notify_all();
    came_.wait(lock, [&] { return rounds_[1 - rank] > round; });
    lock.release();
    return messages_[round];
  }

 private:
  std::mutex turn_;
  std::condition_variable came_;
  std::array<std::size_t, 2> rounds_{};
  std::deque<std::vector<std::vector<std::byte>>> messages_;
};

/// What each of two ranks gets, with a state of its own.
std::vector<std::string> errors_of_pair(const FakeDevice& fake, const PeerState& first, const PeerState& second,
                                        int second_rank = 1) {
  Exchange exchange;
  std::vector<std::string> errors(2);
  const auto make = [&](std::size_t place, int rank, const PeerState& state) {
    try {
      (void)PeerGroup::across_processes(
          fake.device(), rank, state,
          [&](std::span<const std::byte> own, std::chrono::milliseconds) { return exchange.gather(place, own); });
    } catch (const PeerGroupError& error) {
      errors[place] = error.what();
    }
  };
  std::thread other([&] { exchange.run([&] { make(1, second_rank, second); }); });
  exchange.run([&] { make(0, 0, first); });
  other.join();
  return errors;
}

TEST_CASE("All ranks of a process know each other's buffers behind their heads, and rank 0's alarm flags") {
  const FakeDevice fake;
  const Device devices[] = {fake.device(), fake.device()};
  const auto group = PeerGroup::in_process(devices, kState);
  REQUIRE(group.ranks().size() == 2);
  for (const PeerRank& rank : group.ranks()) {
    ArgumentValues values(family());
    rank.fill(values);
    const auto& filled = values.values();
    CHECK(filled[0].bits() == address(group.ranks()[0].peer()) + 4U * static_cast<unsigned>(rank.rank()));
    CHECK(filled[1].bits() == address(rank.epoch()));
    CHECK(filled[2].bits() == address(rank.health()));
    CHECK(filled[4].bits() == static_cast<std::uint64_t>(rank.rank()));
    CHECK(filled[5].bits() == address(rank.scratch()));
    const auto* const table = reinterpret_cast<const void*>(filled[3].bits());
    for (std::size_t peer = 0; peer < 2; ++peer) CHECK(word(table, peer) == address(group.ranks()[peer].peer()) + 256);
    CHECK(word(rank.scratch(), 0) == 0);
    CHECK(word(rank.peer(), 127) == 0);
  }
}

TEST_CASE("Devices that are too few are refused, and a failure names its rank") {
  const FakeDevice fake;
  const Device devices[] = {fake.device(), fake.device()};
  CHECK_THROWS_WITH(PeerGroup::in_process({devices, 1}, kState), "a group of 2 ranks needs 2 devices, not 1");
  fake.hip.failing = "hipExtMallocWithFlags";
  CHECK_THROWS_WITH(PeerGroup::in_process(devices, kState),
                    ContainsSubstring("ranks 0, 1: hipExtMallocWithFlags failed"));
  CHECK(fake.hip.allocations == 0);
}

TEST_CASE("Ranks in processes of their own open each other's buffers, and close them at the end") {
  const FakeDevice fake;
  CHECK(errors_of_pair(fake, kState, kState) == std::vector<std::string>{"", ""});
  CHECK(fake.hip.mappings == 0);
  CHECK(fake.hip.allocations == 0);
}

TEST_CASE("What fails on one rank is raised on all of them with the same text") {
  const FakeDevice fake;
  PeerState other = kState;
  other.peer_bytes = 2048;
  const auto disagree = errors_of_pair(fake, kState, other);
  CHECK(disagree[0] == disagree[1]);
  CHECK_THAT(disagree[0], ContainsSubstring("rank 1: wants other sizes of scratch, health words or peer buffer"));

  const auto twice = errors_of_pair(fake, kState, kState, 0);
  CHECK(twice[0] == twice[1]);
  CHECK_THAT(twice[0], ContainsSubstring("rank 1: takes itself for rank 0"));

  fake.hip.failing = "hipIpcOpenMemHandle";
  const auto unopened = errors_of_pair(fake, kState, kState);
  CHECK(unopened[0] == unopened[1]);
  CHECK_THAT(unopened[0], ContainsSubstring("ranks 0, 1: hipIpcOpenMemHandle failed"));
  fake.hip.failing = "hipIpcGetMemHandle";
  CHECK_THAT(errors_of_pair(fake, kState, kState)[1], ContainsSubstring("ranks 0, 1: hipIpcGetMemHandle failed"));
  CHECK(fake.hip.mappings == 0);
  CHECK(fake.hip.allocations == 0);
}

using Messages = std::vector<std::vector<std::byte>>;

TEST_CASE("An exchange with a message that is none, or of another size, fails by name") {
  const FakeDevice fake;
  const auto brief = [](std::span<const std::byte> own, std::chrono::milliseconds) {
    return Messages{{own.begin(), own.end()}, {std::byte{0}}};
  };
  CHECK_THROWS_WITH(PeerGroup::across_processes(fake.device(), 0, kState, brief),
                    ContainsSubstring("rank 1: its message is too short"));
  const auto three = [](std::span<const std::byte>, std::chrono::milliseconds) { return Messages(3); };
  CHECK_THROWS_WITH(PeerGroup::across_processes(fake.device(), 0, kState, three),
                    ContainsSubstring("the exchange gave 3 messages for 2 ranks"));
}

TEST_CASE("A rank that is not heard of within the bound, in either round of the exchange, fails the group by name") {
  const FakeDevice fake;
  const auto never = [](std::span<const std::byte> own, std::chrono::milliseconds bound) {
    CHECK(bound == kExchangeBound);
    return Messages{{own.begin(), own.end()}, {}};
  };
  CHECK_THROWS_WITH(PeerGroup::across_processes(fake.device(), 0, kState, never),
                    ContainsSubstring("can't be made: rank 1: was not heard of (the bound is 60 s): its process has "
                                      "ended, is stopped or hangs; see what it said last, end it, and start all ranks "
                                      "anew"));

  int round = 0;
  const auto once = [&](std::span<const std::byte> own, std::chrono::milliseconds bound) {
    CHECK(bound == std::chrono::milliseconds(1500));
    Messages all(2, {own.begin(), own.end()});
    const int second = 1;
    if (round++ == 0) {
      std::memcpy(all[1].data() + sizeof(std::uint32_t), &second, sizeof second);  // behind the version
    } else {
      all[1].clear();
    }
    return all;
  };
  CHECK_THROWS_WITH(PeerGroup::across_processes(fake.device(), 0, kState, once, std::chrono::milliseconds(1500)),
                    ContainsSubstring("rank 1: was not heard of (the bound is 1.5 s)"));
  CHECK(round == 2);
  CHECK(fake.hip.mappings == 0);
  CHECK(fake.hip.allocations == 0);
}

TEST_CASE("A key that was not prepared is an error of its own") {
  const FakeDevice fake;
  const Device devices[] = {fake.device(), fake.device()};
  const auto group = PeerGroup::in_process(devices, kState);
  GroupStep step(group);
  CHECK_THROWS_AS(step.kernel(kernels::BuildKey::parse("common.bump"), 0), NotPreparedError);
  CHECK_THROWS_WITH(step.capture({}), "common.bump{} is to be launched but was not prepared");
}

TEST_CASE("A step waits for all ranks, also behind one that failed") {
  const FakeDevice fake;
  const Device devices[] = {fake.device(), fake.device()};
  const auto group = PeerGroup::in_process(devices, kState);
  const GroupStep step(group);
  const int before = fake.hip.synchronizations;
  fake.hip.failing = "hipStreamSynchronize";
  CHECK_THROWS_AS(step.synchronize(), DeviceError);
  CHECK(fake.hip.synchronizations == before + 2);
  fake.hip.failing = nullptr;
}

}  // namespace
}  // namespace monojit::runtime
