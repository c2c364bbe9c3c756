// Kernels that run together: on several devices, on one device, and against time.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>

#include "tests/emulator/devices.h"
#include "tests/emulator/ring.h"

namespace monojit::emulator::test {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr u32 kRanks = 8;
constexpr u32 kTurns = 5;

// A token goes round: rank 0 sends turn t to the next rank's mailbox and waits for it to come back.
// Arguments: own mailbox, next mailbox, rank, turns.
KernelText ring_kernel() {
  return {.name = "ring", .body = std::string(R"(
  s_load_dwordx8 s[4:11], s[0:1], 0x0
  v_mov_b32 v1, 0
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s12, 1
turn:
)") + kSendsFirst + R"(
  global_load_dword v2, v1, s[4:5] sc0 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s13, v2
  s_cmp_ge_u32 s13, s12
  s_cbranch_scc1 arrived
  s_sleep 1
  s_branch wait
arrived:
)" + kPassesOn};
}

// Waits for a word to become non-zero, at most 10 s of the 100 MHz clock; then stores 1 (came) or 2 (did not).
// Arguments: word, result.
KernelText bounded_wait_kernel(bool sleeps) {
  return {.name = "bounded",
          .body = fmt::format(R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v3, 1
  s_memrealtime s[8:9]
  s_waitcnt lgkmcnt(0)
  s_add_u32 s8, s8, 1000000000
  s_addc_u32 s9, s9, 0
poll:
  global_load_dword v2, v1, s[4:5] sc0 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s10, v2
  s_cmp_lg_u32 s10, 0
  s_cbranch_scc1 done
  s_memrealtime s[10:11]
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v4, s10
  v_mov_b32 v5, s11
  v_cmp_gt_u64 vcc, s[8:9], v[4:5]
  {}
  s_cbranch_vccnz poll
  v_mov_b32 v3, 2
done:
  global_store_dword v1, v3, s[6:7]
)",
                              sleeps ? "s_sleep 2" : "")};
}

struct Ring {
  Devices devices;
  Buffer<u32> mail;
  std::vector<std::shared_ptr<Grid>> grids;

  explicit Ring(const Settings& settings) : devices(settings), mail(devices.allocate<u32>(kRanks * 16)) {
    devices.enable_peers();
  }
  void start(u32 rank) {
    const u32 next = (rank + 1) % kRanks;
    grids.push_back(
        devices.start(rank, ring_kernel(), {}, {mail.address() + 64 * rank, mail.address() + 64 * next, rank, kTurns}));
  }
};

TEST_CASE("eight persistent kernels on eight devices pass a token round, whatever the seed and the threads") {
  for (const u64 seed : {0, 1, 2, 3}) {
    for (const u32 threads : {1u, 2u, 3u}) {
      CAPTURE(seed, threads);
      Ring ring({.devices = kRanks, .threads = threads, .seed = seed});
      for (u32 rank = 0; rank < kRanks; ++rank) ring.start(rank);
      ring.devices.finish();
      for (u32 rank = 0; rank < kRanks; ++rank) {
        REQUIRE_FALSE(ring.grids[rank]->failure());
        REQUIRE(ring.mail[16 * rank] == kTurns);
      }
    }
  }
}

TEST_CASE("kernels of one device run side by side as far as it has room") {
  Ring ring({});
  ring.grids.push_back(ring.devices.start(0, ring_kernel(), {}, {ring.mail.address(), ring.mail.address() + 64, 0, 2}));
  ring.grids.push_back(ring.devices.start(0, ring_kernel(), {}, {ring.mail.address() + 64, ring.mail.address(), 1, 2}));
  ring.devices.finish();
  CHECK_FALSE(ring.grids[0]->failure());
  CHECK_FALSE(ring.grids[1]->failure());
  CHECK(ring.mail[0] == 2);
}

TEST_CASE("a group that lacks a rank is a deadlock of all devices, and the report tells each one's word") {
  Ring ring({.devices = kRanks});
  for (u32 rank = 0; rank + 1 < kRanks; ++rank) ring.start(rank);
  ring.devices.finish();
  for (const auto& grid : ring.grids) {
    REQUIRE(grid->failure());
    REQUIRE(grid->failure()->kind() == FailureKind::kDeadlock);
  }
  const std::string text = ring.grids[2]->failure()->what();
  INFO(text);
  CHECK_THAT(text, ContainsSubstring("kernel ring: deadlock"));
  CHECK_THAT(text, ContainsSubstring("device 0, kernel ring:"));
  CHECK_THAT(text, ContainsSubstring("device 6, kernel ring:"));
  CHECK_THAT(text, ContainsSubstring(fmt::format("last load at {:#x}, inside allocation", ring.mail.address())));
  CHECK_THAT(text, ContainsSubstring("the word there is 0x0"));
}

TEST_CASE("a second grid that finds no room beside a waiting one is named with the reason") {
  Ring ring({});
  KernelText large = ring_kernel();
  large.lds_bytes = 160 * 1024;
  const Shape whole{.grid = {256, 1, 1}};
  ring.devices.start(0, large, whole, {ring.mail.address(), ring.mail.address() + 64, 1, 1});
  const auto second = ring.devices.start(0, large, whole, {ring.mail.address(), ring.mail.address(), 0, 1});
  ring.devices.finish();
  REQUIRE(second->failure());
  CHECK_THAT(second->failure()->what(),
             ContainsSubstring("256 workgroups never started: the chip holds 256 at once (limited by LDS), and other "
                               "kernels hold some of its room"));
}

TEST_CASE("a time limit in a kernel ends at once when nothing else can happen, and not before") {
  for (const bool sleeps : {true, false}) {
    CAPTURE(sleeps);
    Devices devices({.devices = 2});
    devices.enable_peers();
    const auto words = devices.allocate<u32>(4);
    const auto alone = devices.start(0, bounded_wait_kernel(sleeps), {}, {words.address(), words.address() + 4});
    devices.finish();
    REQUIRE_FALSE(alone->failure());
    CHECK(words[1] == 2);

    // The other device computes for many rounds before it sends the word: time must not jump meanwhile.
    const KernelText busy{.name = "busy", .body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_mov_b32 s6, 3000000
count:
  s_sub_u32 s6, s6, 1
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 count
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5] sc0 sc1
)"};
    const auto waiting = devices.start(0, bounded_wait_kernel(sleeps), {}, {words.address(), words.address() + 8});
    devices.start(1, busy, {}, {words.address()});
    devices.finish();
    REQUIRE_FALSE(waiting->failure());
    CHECK(words[2] == 1);
  }
}

TEST_CASE("a fault of one device stops its kernel only") {
  Devices devices({.devices = 2});
  const auto words = devices.allocate<u32>(2, 1);
  const KernelText store{.body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 7
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
)"};
  const auto bad = devices.start(0, store, {}, {0});
  const auto good = devices.start(1, store, {}, {words.address()});
  devices.finish();
  REQUIRE(bad->failure());
  CHECK(bad->failure()->kind() == FailureKind::kIllegalAddress);
  CHECK_FALSE(good->failure());
  CHECK(words[0] == 7);
}

TEST_CASE("memory of another device is out of reach until peer access is enabled, and the fault names both devices") {
  Devices devices({.devices = 3});
  const auto words = devices.allocate<u32>(64, 2);
  const KernelText store{.body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v0, s[4:5]
)"};
  const auto outcome = [&](u32 device) {
    const auto grid = devices.start(device, store, {}, {words.address()});
    devices.finish();
    return grid->failure();
  };
  CHECK_FALSE(outcome(2));
  const auto refused = outcome(1);
  REQUIRE(refused);
  CHECK(refused->kind() == FailureKind::kIllegalAddress);
  CHECK_THAT(refused->what(), ContainsSubstring("memory of device 2, which device 1 has no peer access to"));
  CHECK(devices.allocations().set_peer_access(1, 2, true));
  CHECK_FALSE(devices.allocations().set_peer_access(1, 2, true));
  CHECK_FALSE(outcome(1));
  CHECK(outcome(0));
  CHECK(devices.allocations().set_peer_access(1, 2, false));
  CHECK(outcome(1));
}

}  // namespace
}  // namespace monojit::emulator::test
