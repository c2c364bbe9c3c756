// Workgroups that the settings keep from running, as one that hangs on a chip, and devices that they hold back.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "runtime/emulator/schedule/report.h"
#include "tests/emulator/devices.h"

namespace monojit::emulator::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

constexpr u32 kCame = 1;
constexpr u32 kTimeOut = 2;

// Workgroup 0 sends a word; the others wait for it, at most 10 s of the 100 MHz clock, and store kCame or kTimeOut in
// words of their own. Arguments: word, results (workgroup n's at n).
KernelText bounded_hand_off() {
  return {.name = "hand_off", .body = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v3, 1
  s_lshl_b32 s12, s2, 2
  v_mov_b32 v5, s12
  s_memrealtime s[8:9]
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 wait
  global_store_dword v1, v3, s[4:5] sc0 sc1
  s_endpgm
wait:
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
  v_mov_b32 v6, s10
  v_mov_b32 v7, s11
  v_cmp_gt_u64 vcc, s[8:9], v[6:7]
  s_sleep 2
  s_cbranch_vccnz poll
  v_mov_b32 v3, 2
done:
  global_store_dword v5, v3, s[6:7]
)"};
}

constexpr u32 kWorkgroups = 3;

struct HandOff {
  Devices devices;
  Buffer<u32> word, results;

  explicit HandOff(const Settings& settings, u32 device = 0)
      : devices(settings), word(devices.allocate<u32>(1, device)), results(devices.allocate<u32>(kWorkgroups, device)) {
    grid =
        devices.start(device, bounded_hand_off(), {.grid = {kWorkgroups, 1, 1}}, {word.address(), results.address()});
    devices.finish();
  }
  std::shared_ptr<Grid> grid;
};

TEST_CASE("a stalled workgroup never runs: bounded waits for it end, and the launch fails with its number") {
  for (const MemoryMode memory : {MemoryMode::kCoherent, MemoryMode::kWeak}) {
    const HandOff run({.memory = memory, .stalled = {{.device = {}, .number = 0}}});
    CHECK(run.results[1] == kTimeOut);
    CHECK(run.results[2] == kTimeOut);
    REQUIRE(run.grid->failure());
    CHECK(run.grid->failure()->kind() == FailureKind::kDeadlock);
    CHECK_THAT(run.grid->failure()->what(), ContainsSubstring("stalled by MONOJIT_EMULATOR_STALL: workgroup 0"));
  }
}

TEST_CASE("a workgroup that is stalled while the others need nothing of it is named all the same") {
  const HandOff run({.stalled = {{.device = {}, .number = 2}, {.device = {}, .number = kWorkgroups}}});
  CHECK(run.results[1] == kCame);
  CHECK(run.results[2] == 0);
  REQUIRE(run.grid->failure());
  const std::string text = run.grid->failure()->what();
  CHECK(text.ends_with("stalled by MONOJIT_EMULATOR_STALL: workgroup 2"));
}

TEST_CASE("a workgroup is stalled on the device that is named, and on no other") {
  const Settings settings{.devices = 2, .stalled = {{.device = 1, .number = 0}}};
  const HandOff free(settings, 0);
  CHECK_FALSE(free.grid->failure());
  CHECK(free.results[1] == kCame);
  const HandOff hangs(settings, 1);
  REQUIRE(hangs.grid->failure());
  CHECK(hangs.results[1] == kTimeOut);
}

TEST_CASE("a stalled workgroup of a device that is not there is refused, and one that a launch lacks is told") {
  Settings settings;
  apply_setting(settings, "stall", "1:3");
  CHECK_THROWS_MATCHES(check_together(settings), Failure,
                       MessageMatches(ContainsSubstring("MONOJIT_EMULATOR_STALL names workgroup 3 of device 1") &&
                                      ContainsSubstring("MONOJIT_EMULATOR_DEVICES is 1")));
  settings.devices = 2;
  CHECK_NOTHROW(check_together(settings));
  apply_setting(settings, "stall", "2,256,1:300,0:400");
  const HandOff run({.devices = 2});
  CHECK(describe_missing_stalled(run.grid->request(), settings) ==
        "MONOJIT_EMULATOR_STALL names workgroup 256, 400; a launch of hand_off on device 0 has 0..2 only");
  apply_setting(settings, "stall", "2,1:300");
  CHECK(describe_missing_stalled(run.grid->request(), settings).empty());
}

TEST_CASE("a device of which every workgroup is stalled is told as such") {
  const HandOff run({.devices = 2, .stalled = {{.device = 1, .number = {}}}}, 1);
  CHECK(run.results[1] == 0);
  REQUIRE(run.grid->failure());
  CHECK(std::string(run.grid->failure()->what()).ends_with("stalled by MONOJIT_EMULATOR_STALL: all workgroups"));
}

TEST_CASE("the list of stalled workgroups is read as it is written, and a wrong one is refused") {
  Settings settings;
  apply_setting(settings, "stall", "5,1:7");
  CHECK(settings.stalled == std::vector<StalledWorkgroup>{{.device = {}, .number = 5}, {.device = 1, .number = 7}});
  CHECK(settings.stalls(0, 5));
  CHECK(settings.stalls(1, 7));
  CHECK_FALSE(settings.stalls(0, 7));
  apply_setting(settings, "stall", "1:*");
  CHECK(settings.stalls(1, 0));
  CHECK(settings.stalls(1, 255));
  CHECK_FALSE(settings.stalls(0, 0));
  apply_setting(settings, "stall", "");
  CHECK(settings.stalled.empty());
  for (const char* const wrong : {"x", "5,", "1:", ":5", "16:0", "1:2:3", "-1", "*", "*:5", "16:*", "1:**"}) {
    CAPTURE(wrong);
    CHECK_THROWS_MATCHES(apply_setting(settings, "stall", wrong), Failure,
                         MessageMatches(ContainsSubstring("use workgroups as NUMBER, DEVICE:NUMBER or DEVICE:*")));
  }
}

TEST_CASE("under a skew now one device is ahead, now the other, and nobody's wait runs out of time") {
  bool first_ended_first = false, second_ended_first = false;
  for (u64 seed = 1; seed <= 8; ++seed) {
    Devices devices({.devices = 2, .skew = seed});
    std::vector<Buffer<u32>> words, results;
    std::vector<std::shared_ptr<Grid>> grids;
    for (u32 device = 0; device < 2; ++device) {
      words.push_back(devices.allocate<u32>(1, device));
      results.push_back(devices.allocate<u32>(kWorkgroups, device));
      grids.push_back(devices.start(device, bounded_hand_off(), {.grid = {kWorkgroups, 1, 1}},
                                    {words.back().address(), results.back().address()}));
    }
    while (devices.scheduler().busy()) {
      devices.scheduler().round();
      first_ended_first |= grids[0]->ended() && !grids[1]->ended();
      second_ended_first |= grids[1]->ended() && !grids[0]->ended();
    }
    for (const Buffer<u32>& each : results) CHECK((each[1] == kCame && each[2] == kCame));
  }
  CHECK(first_ended_first);
  CHECK(second_ended_first);
}

TEST_CASE("under a skew a wait that nobody ends runs out of time, and a launch that can't end is a deadlock") {
  for (u64 seed = 1; seed <= 4; ++seed) {
    const HandOff run({.devices = 2, .stalled = {{.device = {}, .number = 0}}, .skew = seed}, 1);
    CHECK(run.results[1] == kTimeOut);
    REQUIRE(run.grid->failure());
    CHECK(run.grid->failure()->kind() == FailureKind::kDeadlock);
  }
}

TEST_CASE("a skew is a number, and needs a second device") {
  Settings settings{.devices = 2};
  apply_setting(settings, "skew", "12");
  CHECK(settings.skew == 12);
  CHECK_NOTHROW(check_together(settings));
  settings.devices = 1;
  CHECK_THROWS_MATCHES(
      check_together(settings), Failure,
      MessageMatches(ContainsSubstring("MONOJIT_EMULATOR_SKEW is 12, but MONOJIT_EMULATOR_DEVICES is 1")));
  for (const char* const wrong : {"x", "-1", "1.5", "1,2", ""}) {
    CAPTURE(wrong);
    CHECK_THROWS_MATCHES(apply_setting(settings, "skew", wrong), Failure,
                         MessageMatches(ContainsSubstring("use an unsigned 64-bit number; 0: no skew")));
  }
}

}  // namespace
}  // namespace monojit::emulator::test
