// Launches that never end, though they store and compute: only a limit ends them.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/emulator/devices.h"

namespace monojit::emulator::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

constexpr u32 kLimitSeconds = 1;

/// Counts in memory, for ever. Argument: the word.
KernelText endless() {
  return {.name = "endless", .body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 0
  s_waitcnt lgkmcnt(0)
count:
  v_add_u32 v2, 1, v2
  global_store_dword v1, v2, s[4:5]
  s_branch count
)"};
}

/// Argument: the word, which becomes 1.
KernelText short_one() {
  return {.name = "short_one", .body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
)"};
}

TEST_CASE("a limit ends a launch that would never end, tells where its waves are, and leaves others alone") {
  for (const MemoryMode memory : {MemoryMode::kCoherent, MemoryMode::kWeak}) {
    CAPTURE(memory);
    Settings settings;
    settings.memory = memory;
    settings.limit_seconds = kLimitSeconds;
    Devices devices(settings);
    auto words = devices.allocate<u32>(2);
    const auto never = devices.start(0, endless(), {.grid = {3, 1, 1}}, {words.address()});
    const auto soon = devices.start(0, short_one(), {}, {words.address() + 4});
    devices.finish();
    CHECK_FALSE(soon->failure());
    CHECK(words[1] == 1);
    REQUIRE(never->failure());
    CHECK(never->failure()->kind() == FailureKind::kTimeLimit);
    CHECK_THAT(never->failure()->what(),
               ContainsSubstring("kernel endless: still running after 1 s, the limit of MONOJIT_EMULATOR_LIMIT"));
    CHECK_THAT(never->failure()->what(), ContainsSubstring("3 waves of 3 workgroups (0, 1, 2)"));
  }
}

TEST_CASE("a limit is a number of seconds") {
  Settings settings;
  apply_setting(settings, "limit", "12");
  CHECK(settings.limit_seconds == 12);
  for (const char* const wrong : {"0", "-1", "1s", "", "1000001"}) {
    CAPTURE(wrong);
    CHECK_THROWS_MATCHES(apply_setting(settings, "limit", wrong), Failure,
                         MessageMatches(ContainsSubstring("use seconds, 1..1000000")));
  }
}

}  // namespace
}  // namespace monojit::emulator::test
