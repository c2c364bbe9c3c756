// Waves that poll in the weak memory mode: they are left alone until what they look at changes, and then look at once.
#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

constexpr std::uint64_t kSeeds = 20;
constexpr std::uint32_t kBusyRounds = 1000;  // in each of which something is stored elsewhere
constexpr std::uint32_t kGroups = 8;         // enough that in every round some wave stores
constexpr std::uint32_t kWords = 1024;
constexpr std::uint32_t kLooks = 0, kSet = 2, kSeen = 4;  // words of the results, a line in front of the others

// s[4:5] a0, one lane a wave, s22 looks. The flag stands at 512 bytes from a0, a word nobody waits for at 1024, an
// answer at 1536: lines of their own.
const char* const kPrologue = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_mov_b64 exec, 1
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  s_movk_i32 s22, 0
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 other
)";

/// Looks at the flag until it is set, or `most` times.
std::string look(std::uint32_t most) {
  return fmt::format(R"(
look:
  s_sleep 1
  s_add_u32 s22, s22, 1
  global_load_dword v4, v1, s[4:5] offset:512 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s20, v4
  s_cmp_lg_u32 s20, 0
  s_cbranch_scc1 seen
  s_cmp_lt_u32 s22, {}
  s_cbranch_scc1 look
seen:
)",
                     most);
}

Settings weak(std::uint64_t seed) {
  Settings settings;
  settings.memory = MemoryMode::kWeak;
  settings.seed = seed;
  return settings;
}

Buffer<std::uint32_t> run(Device& device, const std::string& body, std::uint32_t groups = 2) {
  const auto words = device.allocate<std::uint32_t>(kWords);
  device.run({.body = kPrologue + body}, {.grid = {groups, 1, 1}}, {words.address()});
  return words;
}

/// Workgroup 0 looks at the flag and tells how often and until when, 1 stores elsewhere for many rounds, then sets it.
/// More of them go on storing.
std::string late_flag() {
  return look(~0u) + fmt::format(R"(
  s_memrealtime s[12:13]
  v_mov_b32 v5, s22
  global_store_dword v1, v5, s[4:5]
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v6, s12
  v_mov_b32 v7, s13
  global_store_dwordx2 v1, v[6:7], s[4:5] offset:{1}
  s_endpgm
other:
  s_cmp_eq_u32 s2, 1
  s_movk_i32 s23, {0}
  s_cselect_b32 s23, s23, 2 * {0}
store:
  s_add_u32 s22, s22, 1
  global_store_dword v1, v2, s[4:5] offset:1024
  s_sleep 1
  s_cmp_lt_u32 s22, s23
  s_cbranch_scc1 store
  s_cmp_lg_u32 s2, 1
  s_cbranch_scc1 finish
  global_store_dword v1, v2, s[4:5] offset:512 sc1
  s_waitcnt vmcnt(0)
  s_memrealtime s[12:13]
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v6, s12
  v_mov_b32 v7, s13
  global_store_dwordx2 v1, v[6:7], s[4:5] offset:{2}
finish:
)",
                                 kBusyRounds, 4 * kSeen, 4 * kSet);
}

TEST_CASE("a wave that polls is left alone while what it looks at stays as it is") {
  // A few rounds in which the other lets it run and stores nothing: then all waves run.
  constexpr std::uint64_t kFewLooks = kBusyRounds / 5;
  std::uint64_t looks = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Device device(weak(seed));
    looks += run(device, late_flag())[kLooks];
  }
  CHECK(looks < kSeeds * kFewLooks);
}

TEST_CASE("a wave that was left alone while it polled sees a flag as soon as it is set") {
  constexpr std::int32_t kFewTicks =
      16;  // of rounds, in which it may have to let others run, and of looks at the clock
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    Device device(weak(seed));
    const auto words = run(device, late_flag(), kGroups);
    CHECK(static_cast<std::int32_t>(words.data[kSeen] - words.data[kSet]) <= kFewTicks);
  }
}

TEST_CASE("a wave that gives up after some looks does so, though others store all the time until then") {
  constexpr std::uint32_t kMostLooks = 300;
  constexpr std::uint64_t kFewSeeds = 4;
  for (std::uint64_t seed = 1; seed <= kFewSeeds; ++seed) {
    CAPTURE(seed);
    Settings settings = weak(seed);
    settings.limit_seconds = 10;
    Device device(settings);
    const auto words = run(device, look(kMostLooks) + R"(
  v_mov_b32 v5, s22
  global_store_dword v1, v5, s[4:5]
  global_store_dword v1, v2, s[4:5] offset:1536 sc1
  s_endpgm
other:
  global_store_dword v1, v2, s[4:5] offset:1024
  s_sleep 1
  global_load_dword v4, v1, s[4:5] offset:1536 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s20, v4
  s_cmp_eq_u32 s20, 0
  s_cbranch_scc1 other
)",
                           kGroups);
    CHECK(words.data[kLooks] == kMostLooks);
  }
}

}  // namespace
}  // namespace monojit::emulator::test
