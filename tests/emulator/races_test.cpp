// The race detector: hand-offs as the memory model wants them pass, and each missing part of one is named, on both
// sides.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>

#include "tests/emulator/devices.h"

namespace monojit::emulator::test {
namespace {

using Catch::Matchers::ContainsSubstring;

/// Runs the kernel on a buffer of zeros (a0) and tells the failure's text, or "" if nothing raced.
std::string outcome(const std::string& body, const Shape& shape) {
  Settings settings;
  settings.checks.races = true;
  Device device(settings);
  const auto buffer = device.upload(std::vector<std::uint32_t>(1024));
  try {
    device.run({.name = "racer", .body = body, .lds_bytes = 4096}, shape, {buffer.address()});
  } catch (const Failure& failure) {
    INFO(failure.what());
    CHECK(failure.kind() == FailureKind::kCheckFailed);
    return failure.what();
  }
  return "";
}

/// The parts of a hand-off of plain data (word 0) by a flag (word 64) from workgroup 0 to workgroup 1, which are on
/// different XCDs.
struct HandOff {
  std::string wait_for_data = "s_waitcnt vmcnt(0)";
  std::string write_back = "buffer_wbl2 sc1";
  std::string store_scope = "sc1";
  std::string load_scope = "sc1";
  std::string invalidate = "buffer_inv sc1";
};

std::string outcome(const HandOff& parts) {
  return outcome(
      fmt::format(R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  s_mov_b64 exec, 1
  s_cmp_lg_u32 s2, 0
  s_waitcnt lgkmcnt(0)
  s_cbranch_scc1 taker
  global_store_dword v1, v2, s[4:5]
  {}
  {}
  global_store_dword v1, v2, s[4:5] offset:256 {}
  s_endpgm
taker:
  global_load_dword v3, v1, s[4:5] offset:256 {}
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s6, v3
  s_cmp_eq_u32 s6, 0
  s_cbranch_scc1 taker
  {}
  global_load_dword v4, v1, s[4:5]
)",
                  parts.write_back, parts.wait_for_data, parts.store_scope, parts.load_scope, parts.invalidate),
      {.grid = {2, 1, 1}});
}

TEST_CASE("a hand-off with all its parts is no race") { CHECK(outcome(HandOff{}).empty()); }

TEST_CASE("a hand-off that lacks a part is a race, though the data came out right") {
  const std::string expected = "nothing orders these two accesses";
  CHECK_THAT(outcome(HandOff{.wait_for_data = ""}), ContainsSubstring(expected));
  CHECK_THAT(outcome(HandOff{.write_back = ""}), ContainsSubstring(expected));
  CHECK_THAT(outcome(HandOff{.store_scope = ""}), ContainsSubstring(expected));
  CHECK_THAT(outcome(HandOff{.load_scope = ""}), ContainsSubstring(expected));
  CHECK_THAT(outcome(HandOff{.invalidate = ""}), ContainsSubstring(expected));
}

TEST_CASE("a race names both accesses: kernel, workgroup, wave, lane, instruction, address and allocation") {
  const std::string text = outcome(HandOff{.write_back = ""});
  INFO(text);
  CHECK_THAT(text, ContainsSubstring("kernel racer: data race at 0x"));
  CHECK_THAT(text, ContainsSubstring("inside allocation"));
  CHECK_THAT(text,
             ContainsSubstring("write by lane 0 of wave 0 of workgroup (0, 0, 0), kernel racer, device 0, XCD 0"));
  CHECK_THAT(text, ContainsSubstring("read by lane 0 of wave 0 of workgroup (1, 0, 0), kernel racer, device 0, XCD 1"));
  CHECK_THAT(text, ContainsSubstring("global_store_dword v1, v2, s[4:5]"));
  CHECK_THAT(text, ContainsSubstring("global_load_dword v4, v1, s[4:5]"));
}

TEST_CASE("data whose every access has the scope need no caches' maintenance") {
  const std::string body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 taker
  global_store_dword v1, v2, s[4:5] sc1
  s_endpgm
taker:
  global_load_dword v3, v1, s[4:5] sc1
)";
  CHECK(outcome(body, {.grid = {2, 1, 1}}).empty());
}

TEST_CASE("waves of one workgroup share global data by a barrier, if they wait for their stores") {
  const auto body = [](const char* wait) {
    return fmt::format(R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_xor_b32 v2, 256, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v0, s[4:5]
  {}
  s_barrier
  global_load_dword v3, v2, s[4:5]
)",
                       wait);
  };
  CHECK(outcome(body("s_waitcnt vmcnt(0)"), {.block = {128, 1, 1}}).empty());
  CHECK_THAT(outcome(body(""), {.block = {128, 1, 1}}), ContainsSubstring("data race"));
}

TEST_CASE("LDS is shared by a barrier after lgkmcnt, round after round") {
  const auto body = [](const char* wait, const char* barrier) {
    return fmt::format(R"(
  v_lshlrev_b32 v1, 2, v0
  v_xor_b32 v2, 256, v1
  s_movk_i32 s6, 3
again:
  ds_write_b32 v1, v0
  {0}
  {1}
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  {1}
  s_sub_u32 s6, s6, 1
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 again
)",
                       wait, barrier);
  };
  const Shape two_waves{.block = {128, 1, 1}};
  CHECK(outcome(body("s_waitcnt lgkmcnt(0)", "s_barrier"), two_waves).empty());
  CHECK_THAT(outcome(body("", "s_barrier"), two_waves), ContainsSubstring("data race at LDS address 0x"));
  CHECK_THAT(outcome(body("s_waitcnt lgkmcnt(0)", ""), two_waves), ContainsSubstring("data race at LDS address 0x"));
}

TEST_CASE("atomics do not race with each other, and hand on what came before them") {
  // Every workgroup adds to word 64 after storing to its own word; the last one reads all words.
  const auto body = [](const char* write_back) {
    return fmt::format(R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_mov_b64 exec, 1
  v_mov_b32 v2, 1
  s_lshl_b32 s6, s2, 2
  v_mov_b32 v1, s6
  v_mov_b32 v5, 0
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
  {}
  s_waitcnt vmcnt(0)
  global_atomic_add v3, v5, v2, s[4:5] offset:256 sc0
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s7, v3
  s_cmp_lg_u32 s7, 7
  s_cbranch_scc1 done
  buffer_inv sc1
  global_load_dwordx4 v[8:11], v5, s[4:5]
  global_load_dwordx4 v[12:15], v5, s[4:5] offset:16
done:
)",
                       write_back);
  };
  CHECK(outcome(body("buffer_wbl2 sc1"), {.grid = {8, 1, 1}}).empty());
  CHECK_THAT(outcome(body(""), {.grid = {8, 1, 1}}), ContainsSubstring("data race"));
}

TEST_CASE("what is handed on from workgroup to workgroup arrives ordered, over all XCDs") {
  // Workgroup 0 stores word 0; workgroup n waits for flag n, sets flag n + 1 and, as the last one, loads word 0.
  constexpr u32 kWorkgroups = 40;
  const auto body = [](const char* write_back) {
    return fmt::format(R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  s_mov_b64 exec, 1
  s_lshl_b32 s7, s2, 2
  v_mov_b32 v5, s7
  s_cmp_lg_u32 s2, 0
  s_waitcnt lgkmcnt(0)
  s_cbranch_scc1 wait
  global_store_dword v1, v2, s[4:5]
  {}
  s_branch hand_on
wait:
  global_load_dword v3, v5, s[4:5] offset:256 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s6, v3
  s_cmp_eq_u32 s6, 0
  s_cbranch_scc1 wait
  buffer_inv sc1
hand_on:
  s_waitcnt vmcnt(0)
  s_cmp_eq_u32 s2, {}
  s_cbranch_scc1 last
  global_store_dword v5, v2, s[4:5] offset:260 sc1
  s_endpgm
last:
  global_load_dword v4, v1, s[4:5]
)",
                       write_back, kWorkgroups - 1);
  };
  CHECK(outcome(body("buffer_wbl2 sc1"), {.grid = {kWorkgroups, 1, 1}}).empty());
  const std::string text = outcome(body(""), {.grid = {kWorkgroups, 1, 1}});
  CHECK_THAT(text, ContainsSubstring("write by lane 0 of wave 0 of workgroup (0, 0, 0)"));
  CHECK_THAT(text, ContainsSubstring("read by lane 0 of wave 0 of workgroup (39, 0, 0)"));
}

TEST_CASE("kernels that overlap on one device keep their workgroups of equal number apart") {
  constexpr u32 kWorkgroups = 4;
  const KernelText kernel{.name = "rounds",
                          .body = R"(
  v_lshlrev_b32 v1, 2, v0
  v_xor_b32 v2, 256, v1
  s_movk_i32 s6, 200
again:
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  s_barrier
  s_sleep 1
  s_sub_u32 s6, s6, 1
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 again
)",
                          .lds_bytes = 1024};
  Settings settings;
  settings.checks.races = true;
  Devices devices(settings);
  const Shape shape{.grid = {kWorkgroups, 1, 1}, .block = {128, 1, 1}};
  const auto first = devices.start(0, kernel, shape, {});
  for (int round = 0; round < 20; ++round) devices.scheduler().round();
  const auto second = devices.start(0, kernel, shape, {});
  devices.finish();
  for (const auto& grid : {first, second}) {
    INFO((grid->failure() ? grid->failure()->what() : ""));
    CHECK_FALSE(grid->failure());
  }
}

TEST_CASE("a kernel's end orders all its accesses before the next launch") {
  Settings settings;
  settings.checks.races = true;
  Device device(settings);
  const auto buffer = device.upload(std::vector<std::uint32_t>(1024));
  const std::string body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_mov_b64 exec, 1
  v_mov_b32 v1, 0
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v0, s[4:5]
)";
  for (int launch = 0; launch < 3; ++launch) device.run({.body = body}, {}, {buffer.address()});
}

}  // namespace
}  // namespace monojit::emulator::test
