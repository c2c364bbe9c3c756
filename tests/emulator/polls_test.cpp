// Waves that wait by asking: reads and atomics that change nothing are no progress, atomics that change something are.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr std::uint32_t kHeld = 1;
constexpr std::uint32_t kGroups = 40;
constexpr std::uint32_t kLockOffset = 12;  // bytes from the first argument

/// One try to take the lock at a0 + kLockOffset: s20 becomes what it held, zero if it was free. s[4:5] a0, v1 zero, v2
/// kHeld, v3 zero (what a free lock holds).
struct Try {
  const char* name;
  std::string text;
  bool in_lds = false;  ///< the lock is the first word of LDS
  bool weak = true;     ///< the weak memory mode has it
};

const Try kTries[] = {
    {"compare and swap",
     "global_atomic_cmpswap v4, v1, v[2:3], s[4:5] offset:12 sc0\n s_waitcnt vmcnt(0)\n v_readfirstlane_b32 s20, v4"},
    {"swap", "global_atomic_swap v4, v1, v2, s[4:5] offset:12 sc0\n s_waitcnt vmcnt(0)\n v_readfirstlane_b32 s20, v4"},
    {"or", "global_atomic_or v4, v1, v2, s[4:5] offset:12 sc0\n s_waitcnt vmcnt(0)\n v_readfirstlane_b32 s20, v4"},
    {"buffer compare and swap",
     "s_mov_b32 s8, s4\n s_mov_b32 s9, s5\n s_movk_i32 s10, 64\n s_mov_b32 s11, 0x27000\n v_mov_b32 v4, v2\n"
     "v_mov_b32 v5, v3\n buffer_atomic_cmpswap v[4:5], off, s[8:11], 0 offset:12 sc0\n s_waitcnt vmcnt(0)\n"
     "v_readfirstlane_b32 s20, v4"},
    {"flat compare and swap",
     "v_mov_b32 v6, s4\n v_mov_b32 v7, s5\n flat_atomic_cmpswap v4, v[6:7], v[2:3] offset:12 sc0\n"
     "s_waitcnt vmcnt(0) lgkmcnt(0)\n v_readfirstlane_b32 s20, v4"},
    {"scalar compare and swap",
     "s_mov_b32 s20, 1\n s_mov_b32 s21, 0\n s_atomic_cmpswap s[20:21], s[4:5], 0xc glc\n s_waitcnt lgkmcnt(0)", false,
     false},
    {"LDS compare and store", "ds_cmpst_rtn_b32 v4, v1, v3, v2\n s_waitcnt lgkmcnt(0)\n v_readfirstlane_b32 s20, v4",
     true},
    {"LDS swap", "ds_wrxchg_rtn_b32 v4, v1, v2\n s_waitcnt lgkmcnt(0)\n v_readfirstlane_b32 s20, v4", true},
};

// One lane a wave: what the others did would be the same lock.
const char* const kPrologue = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_mov_b64 exec, 1
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  v_mov_b32 v3, 0
  s_mov_b32 m0, -1
  s_waitcnt lgkmcnt(0)
)";

KernelText kernel_of(const std::string& body) {
  return {.name = "locker", .body = kPrologue + body, .lds_bytes = 16, .scratch_bytes = 16};
}

/// Tries until the lock is its own; `between` two tries.
std::string take(const Try& attempt, const std::string& between = "") {
  return fmt::format("take:\n {}\n {}\n s_cmp_lg_u32 s20, 0\n s_cbranch_scc1 take\n", attempt.text, between);
}

std::string deadlock_of(Device& device, const KernelText& text, const Shape& shape,
                        const std::vector<std::uint64_t>& arguments) {
  try {
    device.run(text, shape, arguments);
  } catch (const Failure& failure) {
    CHECK(failure.kind() == FailureKind::kDeadlock);
    return failure.what();
  }
  FAIL("the kernel ended");
  return "";
}

TEST_CASE("a lock that nobody gives back is a deadlock, whichever atomic asks for it") {
  for (const MemoryMode mode : {MemoryMode::kCoherent, MemoryMode::kWeak}) {
    for (const Try& attempt : kTries) {
      if (mode == MemoryMode::kWeak && !attempt.weak) continue;
      for (const char* const between : {"", "s_sleep 1"}) {
        INFO(attempt.name << " " << between << (mode == MemoryMode::kWeak ? " weak" : " coherent"));
        Settings settings;
        settings.memory = mode;
        Device device(settings);
        const auto words = device.upload<std::uint32_t>({0, 0, 0, kHeld});
        const std::string text = deadlock_of(device, kernel_of("ds_write_b32 v1, v2\n" + take(attempt, between)),
                                             {.grid = {3, 1, 1}}, {words.address(), 0});
        CHECK_THAT(text, ContainsSubstring("3 waves of 3 workgroups"));
        if (!attempt.in_lds) {
          CHECK_THAT(text, ContainsSubstring(fmt::format("last load at {:#x}, inside", words.address() + kLockOffset)));
          CHECK_THAT(text, ContainsSubstring("the word there is 0x1"));
        }
      }
    }
  }
}

TEST_CASE("a deadlock is seen whatever the order in which workgroups take turns") {
  constexpr std::uint64_t kSeeds = 3;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const MemoryMode mode : {MemoryMode::kCoherent, MemoryMode::kWeak}) {
      CAPTURE(seed, mode);
      Settings settings;
      settings.memory = mode;
      settings.seed = seed;
      Device device(settings);
      const auto words = device.upload<std::uint32_t>({0, 0, 0, kHeld});
      const std::string text =
          deadlock_of(device, kernel_of(take(kTries[0])), {.grid = {kGroups, 1, 1}}, {words.address(), 0});
      CHECK_THAT(text, ContainsSubstring(fmt::format("{} waves of {} workgroups (0, 1, 2, ", kGroups, kGroups)));
    }
  }
}

TEST_CASE("a deadlock is seen where polls are far apart, in loops inside of loops") {
  // The budget of a visit ends at another place of the inner loops each time.
  for (const std::uint32_t pause : {7, 1000, 12'345}) {
    CAPTURE(pause);
    Device device;
    const auto words = device.upload<std::uint32_t>({0, 0, 0, kHeld});
    deadlock_of(device,
                kernel_of(take(kTries[0], fmt::format("s_mov_b32 s21, {}\npause:\n s_sub_u32 s21, s21, 1\n"
                                                      "s_cmp_lg_u32 s21, 0\n s_cbranch_scc1 pause",
                                                      pause))),
                {.grid = {3, 1, 1}}, {words.address(), 0});
  }
}

// Wave 0 looks at the flag at a0 + kLockOffset and tells the others through LDS, between barriers. The last wave runs
// `between`.
std::string look_together(const std::string& between = "") {
  return fmt::format(R"(
look:
  s_cmp_lg_u32 s16, 0
  s_cbranch_scc1 others
  global_load_dword v4, v1, s[4:5] offset:12 sc1
  s_waitcnt vmcnt(0)
  ds_write_b32 v1, v4
  s_waitcnt lgkmcnt(0)
  s_branch meet
others:
  {}
meet:
  s_barrier
  ds_read_b32 v5, v1
  s_waitcnt lgkmcnt(0)
  v_readfirstlane_b32 s20, v5
  s_barrier
)",
                     between);
}

// s16: which wave this is. All lanes of the prologue's one are the first of their wave.
KernelText together(const std::string& body) {
  KernelText text = kernel_of(body);
  text.body = "  v_readfirstlane_b32 s16, v0\n  s_lshr_b32 s16, s16, 6\n" + text.body;
  return text;
}

TEST_CASE("a workgroup that looks at a flag between barriers lets others run, and waits when nobody sets it") {
  const Shape shape{.grid = {2, 1, 1}, .block = {128, 1, 1}};
  const std::string wait = look_together() + "  s_cmp_eq_u32 s20, 0\n  s_cbranch_scc1 look\n";
  for (const MemoryMode mode : {MemoryMode::kCoherent, MemoryMode::kWeak}) {
    CAPTURE(mode);
    Settings settings;
    settings.memory = mode;
    Device device(settings);
    const auto words = device.upload<std::uint32_t>({0, 0, 0, 0});
    const std::string text = deadlock_of(device, together(wait), shape, {words.address(), 0});
    CHECK_THAT(text, ContainsSubstring("4 waves of 2 workgroups (0, 1) in a loop"));

    // Workgroup 1 sets it; 0 looks first.
    const std::string set = R"(
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc1 look
  global_store_dword v1, v2, s[4:5] offset:12 sc0 sc1
  s_endpgm
)";
    device.run(together(set + wait + "  global_store_dword v1, v2, s[4:5]\n"), shape, {words.address(), 0});
    CHECK(words[0] == 1);
  }
}

TEST_CASE("a time limit around barriers ends at once when all wait, and not before the last computation is done") {
  constexpr std::uint32_t kTimeOut = 2;
  constexpr std::uint32_t kRounds = 3'000'000;
  const auto bounded = [&](const std::string& between) {
    return together(fmt::format(R"(
  s_memrealtime s[12:13]
  s_waitcnt lgkmcnt(0)
  s_add_u32 s12, s12, 1000000000
  s_addc_u32 s13, s13, 0
{}
  s_cmp_lg_u32 s20, 0
  s_cbranch_scc1 done
  s_memrealtime s[14:15]
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v10, s14
  v_mov_b32 v11, s15
  v_cmp_gt_u64 vcc, s[12:13], v[10:11]
  s_cbranch_vccnz look
  v_mov_b32 v2, {}
done:
  global_store_dword v1, v2, s[4:5]
)",
                                look_together(between), kTimeOut));
  };
  const Shape shape{.grid = {1, 1, 1}, .block = {128, 1, 1}};
  Device device;
  const auto words = device.upload<std::uint32_t>({0, 0, 0, 0});
  device.run(bounded(""), shape, {words.address(), 0});
  CHECK(words[0] == kTimeOut);

  // The second wave computes for many rounds, then sets the flag, while the first one waits at the barrier.
  device.run(bounded(fmt::format("s_mov_b32 s22, {}\ncount:\n s_sub_u32 s22, s22, 1\n s_cmp_lg_u32 s22, 0\n"
                                 "s_cbranch_scc1 count\n global_store_dword v1, v2, s[4:5] offset:12 sc0 sc1",
                                 kRounds)),
             shape, {words.address(), 0});
  CHECK(words[0] == 1);
}

TEST_CASE("waves that keep what they see, or release what they have not, wait all the same") {
  const char* const load = "global_load_dword v4, v1, s[4:5] offset:12 sc1\n s_waitcnt vmcnt(0)\n";
  const Try kept[] = {
      {"in scratch, as at -O0", fmt::format("{} scratch_store_dword off, v4, off", load)},
      {"in scratch, by a flat address",
       fmt::format("{} s_mov_b64 s[8:9], src_private_base\n v_mov_b32 v6, 0\n v_mov_b32 v7, s9\n"
                   "flat_store_dword v[6:7], v4\n flat_load_dword v4, v[6:7]",
                   load)},
      {"in LDS, for the other waves", fmt::format("{} ds_write_b32 v1, v4\n s_waitcnt lgkmcnt(0)\n s_barrier", load)},
      {"in global memory", fmt::format("{} global_store_dword v1, v4, s[4:5] offset:8", load), false, false},
      {"released", fmt::format("buffer_wbl2 sc1\n s_waitcnt vmcnt(0)\n {}", load)},
  };
  for (const MemoryMode mode : {MemoryMode::kCoherent, MemoryMode::kWeak}) {
    for (const Try& attempt : kept) {
      if (mode == MemoryMode::kWeak && !attempt.weak) continue;
      INFO(attempt.name << (mode == MemoryMode::kWeak ? " weak" : " coherent"));
      Settings settings;
      settings.memory = mode;
      Device device(settings);
      const auto words = device.upload<std::uint32_t>({0, 0, 0, kHeld});
      const std::string body = attempt.text + "\n s_waitcnt vmcnt(0) lgkmcnt(0)\n v_readfirstlane_b32 s20, v4";
      const std::string text =
          deadlock_of(device, kernel_of(take({attempt.name, body})), {.grid = {3, 1, 1}}, {words.address(), 0});
      CHECK_THAT(text, ContainsSubstring("3 waves of 3 workgroups"));
      CHECK_THAT(text, ContainsSubstring(fmt::format("last load at {:#x}, inside", words.address() + kLockOffset)));
    }
  }
}

TEST_CASE("a wave that counts in scratch computes") {
  constexpr std::uint32_t kRounds = 400'000;  // many times what a wave may do in a round of the scheduler
  Device device;
  const auto words = device.upload<std::uint32_t>({0, 0, 0, 0});
  device.run(kernel_of(fmt::format(R"(
  scratch_store_dword off, v1, off
count:
  scratch_load_dword v4, off, off
  s_waitcnt vmcnt(0)
  v_add_u32 v4, 1, v4
  v_cmp_gt_u32 vcc, {}, v4
  scratch_store_dword off, v4, off
  v_mov_b32 v4, 0
  s_cbranch_vccnz count
  scratch_load_dword v4, off, off
  s_waitcnt vmcnt(0)
  global_store_dword v1, v4, s[4:5]
)",
                                   kRounds)),
             {}, {words.address(), 0});
  CHECK(words[0] == kRounds);
}

TEST_CASE("a lock that goes from wave to wave is progress, and what it guards is right") {
  for (const Try& attempt : kTries) {
    if (attempt.in_lds) continue;
    INFO(attempt.name);
    Device device;
    const auto words = device.upload<std::uint32_t>({0, 0, 0, 0});
    device.run(kernel_of(take(attempt, "s_sleep 1") + R"(
  global_load_dword v8, v1, s[4:5] sc1
  s_waitcnt vmcnt(0)
  s_sleep 1
  v_add_u32 v8, 1, v8
  global_store_dword v1, v8, s[4:5] sc1
  s_waitcnt vmcnt(0)
  global_store_dword v1, v3, s[4:5] offset:12 sc1
)"),
               {.grid = {kGroups, 1, 1}}, {words.address(), 0});
    CHECK(words[0] == kGroups);
    CHECK(words[3] == 0);
  }
}

TEST_CASE("a time limit around a lock that stays taken ends at once") {
  constexpr std::uint32_t kTimeOut = 2;
  for (const Try& attempt : kTries) {
    INFO(attempt.name);
    Device device;
    const auto words = device.upload<std::uint32_t>({0, 0, 0, kHeld});
    // 10 s of the 100 MHz clock: without a jump, a thousand million rounds.
    device.run(kernel_of(fmt::format(R"(
  ds_write_b32 v1, v2
  s_memrealtime s[12:13]
  s_waitcnt lgkmcnt(0)
  s_add_u32 s12, s12, 1000000000
  s_addc_u32 s13, s13, 0
take:
  {}
  s_cmp_eq_u32 s20, 0
  s_cbranch_scc1 done
  s_memrealtime s[14:15]
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v10, s14
  v_mov_b32 v11, s15
  v_cmp_gt_u64 vcc, s[12:13], v[10:11]
  s_sleep 1
  s_cbranch_vccnz take
  v_mov_b32 v8, {}
  global_store_dword v1, v8, s[4:5]
done:
)",
                                     attempt.text, kTimeOut)),
               {}, {words.address(), 0});
    CHECK(words[0] == kTimeOut);
  }
}

TEST_CASE("a deadlock's report tells the word that scalar loads ask for, not the kernel's arguments") {
  Device device;
  const auto words = device.upload<std::uint32_t>({0, 0, 0, 0x77});
  const std::string text = deadlock_of(device, kernel_of(R"(
poll:
  s_dcache_inv
  s_load_dword s20, s[4:5], 0xc
  s_load_dwordx2 s[22:23], s[0:1], 0x8
  s_waitcnt lgkmcnt(0)
  s_sleep 1
  s_cmp_eq_u32 s20, 0x77
  s_cbranch_scc1 poll
)"),
                                       {}, {words.address(), 0});
  CHECK_THAT(text, ContainsSubstring(fmt::format("last load at {:#x}, inside", words.address() + kLockOffset)));
  CHECK_THAT(text, ContainsSubstring("the word there is 0x77"));
}

}  // namespace
}  // namespace monojit::emulator::test
