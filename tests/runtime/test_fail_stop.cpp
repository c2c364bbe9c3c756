#include <array>
#include <cstring>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "runtime/fail_stop.h"
#include "runtime/peer_group.h"
#include "tests/runtime/fake_device.h"

namespace monojit::runtime {
namespace {

using Catch::Matchers::ContainsSubstring;
using tests::FakeDevice;

constexpr kernels::PeerState kState{
    .ranks = 1, .scratch_bytes = 64, .health_bytes = 96, .peer_bytes = 1024, .peer_head = 256};

struct OneRank {
  FakeDevice fake;
  std::array<Device, 1> devices = {fake.device()};
  PeerGroup group = PeerGroup::in_process(devices, kState);
  FailStop watch{group.ranks()[0], {}};

  void fail() const {
    const std::uint32_t failed = 1;
    std::memcpy(group.ranks()[0].health(), &failed, sizeof failed);
    std::memcpy(group.ranks()[0].alarms(), &failed, sizeof failed);
  }
};

TEST_CASE("A watch asks once a step, and only says what has landed") {
  const OneRank one;
  auto& watch = const_cast<FailStop&>(one.watch);
  CHECK_FALSE(watch.watch(nullptr));
  CHECK(one.fake.hip.copies == 1);
  one.fail();  // behind the first copy
  CHECK_FALSE(watch.watch(nullptr));
  CHECK(one.fake.hip.copies == 2);
  one.fake.hip.landed = false;
  CHECK_FALSE(watch.watch(nullptr));
  CHECK_FALSE(watch.poll_error());
  CHECK(one.fake.hip.copies == 2);  // the one that is under way may still be written
  one.fake.hip.landed = true;
  CHECK(watch.watch(nullptr));
  CHECK(one.fake.hip.copies == 2);
}

TEST_CASE("A failure stays, whatever becomes of the words, and names the ranks that raised their alarms") {
  OneRank one;
  one.fail();
  CHECK_FALSE(one.watch.watch(nullptr));
  REQUIRE(one.watch.poll_error());
  CHECK_THAT(*one.watch.poll_error(), ContainsSubstring("rank 0: health word 0 was set before the launch: ") &&
                                          ContainsSubstring("by rank 0's alarm flags, rank 0 gave up"));
  std::memset(one.group.ranks()[0].health(), 0, sizeof(std::uint32_t));
  CHECK(one.watch.watch(nullptr));
  CHECK(one.watch.poll_error());
}

TEST_CASE("A failure whose words were zeroed before anyone read them is told as that") {
  OneRank one;
  one.fail();
  CHECK_FALSE(one.watch.watch(nullptr));
  CHECK(one.watch.watch(nullptr));
  std::memset(one.group.ranks()[0].health(), 0, sizeof(std::uint32_t));
  REQUIRE(one.watch.poll_error());
  CHECK_THAT(*one.watch.poll_error(),
             ContainsSubstring("rank 0: a wait gave up, but its health words were zeroed before they were read"));
}

TEST_CASE("A watch that can't ask or hear says so") {
  OneRank one;
  one.fake.hip.failing = "hipMemcpyAsync";
  CHECK_THROWS_WITH(one.watch.watch(nullptr), ContainsSubstring("hipMemcpyAsync failed"));
  one.fake.hip.failing = nullptr;
  CHECK_FALSE(one.watch.watch(nullptr));
  one.fake.hip.failing = "hipEventQuery";
  CHECK_THROWS_WITH(one.watch.poll_error(), ContainsSubstring("hipEventQuery failed"));
}

}  // namespace
}  // namespace monojit::runtime
