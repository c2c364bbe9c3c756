// Hardware registers, forks and joins, traps and halts.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using std::uint32_t;
using std::uint64_t;

/// Runs one wave; `text` may use s[8:...] and leaves its result in s8 and s9.
std::pair<uint32_t, uint32_t> run(const std::string& text, const Shape& shape = {}, KernelText kernel = {}) {
  Device device;
  const auto out = device.allocate<uint32_t>(2);
  kernel.body = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_mov_b64 s[8:9], 0\n" + text + R"(
  s_mov_b64 exec, 1
  v_mov_b32 v1, 0
  v_mov_b32 v2, s8
  v_mov_b32 v3, s9
  s_waitcnt lgkmcnt(0)
  global_store_dwordx2 v1, v[2:3], s[4:5]
)";
  device.run(kernel, shape, {out.address()});
  return {out[0], out[1]};
}

std::string getreg(const char* name) { return fmt::format("  s_getreg_b32 s8, hwreg({})\n", name); }

TEST_CASE("hardware registers describe the wave") {
  CHECK(run(getreg("HW_REG_MODE")).first == 0x3f0);
  const uint32_t status = run("  s_cmp_eq_u32 0, 0\n  s_mov_b64 vcc, 0\n" + getreg("HW_REG_STATUS")).first;
  constexpr uint32_t kScc = 1, kVccZero = 1u << 10, kValid = 1u << 16, kInGroup = 1u << 11, kExecZero = 1u << 9;
  CHECK((status & (kScc | kVccZero | kValid)) == (kScc | kVccZero | kValid));
  CHECK((status & (kInGroup | kExecZero)) == 0);
  CHECK((run(getreg("HW_REG_STATUS"), {.block = {128, 1, 1}}).first & kInGroup) != 0);
  CHECK(run(getreg("HW_REG_TRAPSTS")).first == 0);
  CHECK(run(getreg("HW_REG_IB_STS")).first == 0);
  CHECK(run(getreg("HW_REG_LDS_ALLOC"), {}, {.body = {}, .lds_bytes = 4096}).first >> 12 == 8);
  CHECK((run(getreg("HW_REG_GPR_ALLOC"), {}, {.body = {}, .vgprs = 64}).first >> 8 & 0x3f) == 7);
}

TEST_CASE("TRAPSTS can be written, STATUS cannot") {
  CHECK(run("  s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 2, 3), 5\n" + getreg("HW_REG_TRAPSTS")).first == 5u << 2);
  CHECK_THROWS_MATCHES(run("  s_setreg_imm32_b32 hwreg(HW_REG_STATUS, 0, 1), 1"), Failure,
                       MessageMatches(ContainsSubstring("trap handlers only")));
}

TEST_CASE("XCC_ID is the workgroup's XCD") {
  Device device;
  constexpr uint32_t kGroups = 16, kXcds = 8;
  const auto out = device.allocate<uint32_t>(kGroups);
  const char* const body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_getreg_b32 s8, hwreg(HW_REG_XCC_ID)
  s_lshl_b32 s9, s2, 2
  v_mov_b32 v1, s9
  v_mov_b32 v2, s8
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
)";
  device.run({.body = body}, {.grid = {kGroups, 1, 1}}, {out.address()});
  for (uint32_t i = 0; i < kGroups; ++i) CHECK(out[i] == i % kXcds);
}

/// The lanes that reach each side of a fork, in s8 (first visit) and s9 (second), as the lanes of the low word.
std::string forked(const char* fork, uint32_t condition) {
  return fmt::format(R"(
  s_mov_b32 exec_lo, 0xff
  s_mov_b32 exec_hi, 0
  s_mov_b32 s20, {:#x}
  s_mov_b32 s21, 0
  s_mov_b32 s22, 0
  s_mov_b32 s30, 0
  {}
  s_lshl_b32 s30, s30, 16
  s_or_b32 s30, s30, exec_lo
  s_bitset1_b32 s30, 8
  s_branch both
pass:
  s_lshl_b32 s30, s30, 16
  s_or_b32 s30, s30, exec_lo
both:
  s_cbranch_join s22
  s_mov_b32 s8, s30
  s_mov_b32 s9, exec_lo
)",
                     condition, fork);
}

const char* const kImmediateFork = "s_cbranch_i_fork s[20:21], pass";
const char* const kRegisterFork = R"(
  s_getpc_b64 s[24:25]
here:
  s_add_u32 s24, s24, pass-here
  s_addc_u32 s25, s25, 0
  s_cbranch_g_fork s[20:21], s[24:25])";

TEST_CASE("a fork runs the side with fewer lanes first, the other at the join") {
  constexpr uint32_t kFailed = 0x100;
  for (const char* fork : {kImmediateFork, kRegisterFork}) {
    CHECK(run(forked(fork, 0xff)).first == 0xff);           // all pass
    CHECK(run(forked(fork, 0)).first == (kFailed | 0xff));  // all fail
    CHECK(run(forked(fork, 0x03)).first == (0x03u << 16 | kFailed | 0xfc));
    CHECK(run(forked(fork, 0x3f)).first == ((kFailed | 0xc0) << 16 | 0x3f));
    CHECK(run(forked(fork, 0x0f)).first == (0x0fu << 16 | kFailed | 0xf0));
  }
}

TEST_CASE("what only a debugger or a trap handler could go on with is a fault") {
  const std::pair<const char*, const char*> faults[] = {
      {"s_trap 2", "s_trap 2"},
      {"s_sethalt 1", "halted"},
      {"s_sendmsghalt sendmsg(MSG_INTERRUPT)", "halted"},
      {"s_rfe_b64 s[8:9]", "trap handler"},
      {"s_cbranch_join s4", "without a fork"},
      {"s_getreg_b32 s8, hwreg(60)", "no hardware register 60"},
  };
  for (const auto& [text, message] : faults) {
    CHECK_THROWS_MATCHES(run(fmt::format("  s_mov_b32 s4, 3\n  {}\n", text)), Failure,
                         MessageMatches(ContainsSubstring(message)));
  }
  CHECK(run("  s_trap 3\n  s_mov_b32 s8, 5").first == 5);
  CHECK(run("  s_sethalt 0\n  s_sendmsg sendmsg(MSG_INTERRUPT)\n  s_mov_b32 s8, 5").first == 5);
}

TEST_CASE("VCCZ and EXECZ are operands") {
  const auto vcc =
      run("  s_mov_b64 vcc, 0\n  s_add_u32 s8, src_vccz, 4\n  s_mov_b64 vcc, 2\n  s_add_u32 s9, src_vccz, 4");
  CHECK(vcc.first == 5);
  CHECK(vcc.second == 4);
  const auto exec =
      run("  s_mov_b64 exec, 0\n  s_add_u32 s8, src_execz, 4\n  s_mov_b64 exec, 2\n  v_mov_b32 v4, src_execz\n"
          "  v_readlane_b32 s9, v4, 1");
  CHECK(exec.first == 5);
  CHECK(exec.second == 0);
}

}  // namespace
}  // namespace monojit::emulator::test
