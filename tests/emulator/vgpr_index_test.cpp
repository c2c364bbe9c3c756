// VGPR indexing mode: registers that M0 chooses, between s_set_gpr_idx_on and s_set_gpr_idx_off.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <fmt/format.h>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

constexpr u32 kRegisters = 16, kFirst = 8, kVgprs = 32;

/// v[8:23] hold 1000 * n + lane; after `text` (s6 is `index`), they are stored.
std::vector<u32> registers_after(const std::string& text, u32 index) {
  Device device;
  const auto out = device.allocate<u32>(kRegisters * kLanes);
  std::string body = "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n  s_movk_i32 s8, 1000\n  v_lshlrev_b32 v2, 2, v0\n";
  for (u32 i = 0; i < kRegisters; ++i) {
    body += fmt::format("  s_mul_i32 s9, s8, {}\n  v_add_u32 v{}, s9, v0\n", i, kFirst + i);
  }
  body += "  s_waitcnt lgkmcnt(0)\n" + text;
  for (u32 i = 0; i < kRegisters; ++i) {
    body +=
        fmt::format("  global_store_dword v2, v{}, s[4:5]\n  v_add_u32 v2, {}, v2\n", kFirst + i, kLanes * sizeof(u32));
  }
  device.run({.body = body, .vgprs = kVgprs}, {}, {out.address(), index});
  return {out.all().begin(), out.all().end()};
}

/// What `text` leaves in register `r` of `lane`.
template <class Expected>
void check(const std::string& text, u32 index, Expected expected) {
  const std::vector<u32> got = registers_after(text, index);
  for (u32 r = 0; r < kRegisters; ++r) {
    for (u32 lane = 0; lane < kLanes; ++lane) {
      INFO(text << " with index " << index << ", v" << kFirst + r << ", lane " << lane);
      REQUIRE(got[r * kLanes + lane] == expected(r, lane));
    }
  }
}

u32 initial(u32 r, u32 lane) { return 1000 * r + lane; }

TEST_CASE("a move reads the register that the index chooses") {
  const u32 index = GENERATE(0u, 3u, 15u);
  check("s_set_gpr_idx_on s6, gpr_idx(SRC0)\n v_mov_b32 v23, v8\n s_set_gpr_idx_off\n v_mov_b32 v22, v8\n", index,
        [&](u32 r, u32 lane) {
          return initial(r == 15 ? index : r == 14 ? 0 : r, lane);
        });
}

TEST_CASE("a move writes the register that the index chooses, in active lanes") {
  const u32 index = GENERATE(0u, 5u, 15u);
  check(
      "s_mov_b32 exec_lo, 0xff\n s_set_gpr_idx_on s6, gpr_idx(DST)\n v_mov_b32 v8, 7\n s_set_gpr_idx_off\n"
      " s_mov_b64 exec, -1\n",
      index, [&](u32 r, u32 lane) { return r == index && (lane < 8 || lane >= 32) ? 7 : initial(r, lane); });
}

TEST_CASE("each operand moves by its own enable bit, and the index and the bits change on the way") {
  check(
      "s_set_gpr_idx_on s6, gpr_idx(SRC0,SRC1,DST)\n v_add_u32 v10, v8, v9\n"
      " s_set_gpr_idx_mode gpr_idx(SRC1)\n v_sub_u32 v20, v10, v11\n"
      " s_mov_b32 s7, 0x106\n s_set_gpr_idx_idx s7\n v_mul_u32_u24 v21, v8, v9\n s_set_gpr_idx_off\n",
      3, [](u32 r, u32 lane) {
        if (r == 5) return initial(3, lane) + initial(4, lane);
        if (r == 12) return initial(2, lane) - initial(6, lane);
        if (r == 13) return lane * initial(7, lane);
        return initial(r, lane);
      });
}

TEST_CASE("a pair of registers moves as one") {
  check("s_set_gpr_idx_on s6, gpr_idx(SRC0)\n v_mov_b64 v[22:23], v[8:9]\n s_set_gpr_idx_off\n", 4,
        [](u32 r, u32 lane) { return initial(r >= 14 ? r - 10 : r, lane); });
}

TEST_CASE("a source beyond the kernel's registers is v0, and a destination beyond them is not written") {
  check("s_set_gpr_idx_on s6, gpr_idx(SRC0)\n v_mov_b32 v23, v8\n s_set_gpr_idx_off\n", 24,
        [](u32 r, u32 lane) { return r == 15 ? lane : initial(r, lane); });
  check("s_set_gpr_idx_on s6, gpr_idx(DST)\n v_mov_b32 v8, 7\n s_set_gpr_idx_off\n", 24, initial);
}

TEST_CASE("what indexing mode can't execute is a fault that names the instruction") {
  const std::string text = GENERATE("v_mov_b32_sdwa v8, v9 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD",
                                    "s_branch over\nover:");
  try {
    registers_after("s_set_gpr_idx_on s6, gpr_idx(SRC0)\n " + text + "\n s_set_gpr_idx_off\n", 0);
    FAIL("no fault");
  } catch (const Failure& failure) {
    CHECK(failure.kind() == FailureKind::kIllegalInstruction);
    CHECK(std::string(failure.what()).find(text.substr(0, text.find(' '))) != std::string::npos);
  }
}

}  // namespace
}  // namespace monojit::emulator::test
