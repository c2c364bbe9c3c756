// s_movrel*, and vector instructions that VSKIP leaves out.
#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

using std::uint32_t;

constexpr uint32_t kWords = 16;

/// Runs one lane; v[10:13] and then s[20:23] come back. v[20:27] hold 100..107, s[40:47] 200..207, the rest 0.
std::vector<uint32_t> run(const std::string& text, u32 index) {
  Device device;
  const auto out = device.allocate<uint32_t>(kWords);
  std::string body = "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n";
  for (int i = 0; i < 8; ++i)
    body += fmt::format("  v_mov_b32 v{}, {}\n  s_movk_i32 s{}, {}\n", 20 + i, 100 + i, 40 + i, 200 + i);
  for (int i = 0; i < 4; ++i) body += fmt::format("  v_mov_b32 v{}, 0\n  s_mov_b32 s{}, 0\n", 10 + i, 20 + i);
  body += "  s_waitcnt lgkmcnt(0)\n" + text + R"(
  v_mov_b32 v1, 0
  v_mov_b32 v2, s20
  v_mov_b32 v3, s21
  v_mov_b32 v4, s22
  v_mov_b32 v5, s23
  global_store_dwordx4 v1, v[10:13], s[4:5]
  global_store_dwordx4 v1, v[2:5], s[4:5] offset:16
)";
  device.run({.body = body}, {.block = {1, 1, 1}}, {out.address(), index});
  return {out.data, out.data + 8};
}

TEST_CASE("s_movrel moves from and to scalar registers that M0 names") {
  for (const u32 index : {0u, 2u, 5u}) {
    const auto from = run("  s_mov_b32 m0, s6\n  s_movrels_b32 s20, s40", index);
    CHECK(from[4] == 200 + index);
    const auto to = run("  s_and_b32 m0, s6, 3\n  s_movreld_b32 s20, s43", index);
    CHECK(to[4 + (index & 3)] == 203);
  }
  const auto pair = run("  s_mov_b32 m0, 2\n  s_movrels_b64 s[20:21], s[40:41]\n  s_movreld_b64 s[20:21], s[46:47]", 0);
  CHECK(pair[4] == 202);
  CHECK(pair[5] == 203);
  CHECK(pair[6] == 206);
  CHECK(pair[7] == 207);
}

TEST_CASE("s_movrel past the scalar registers is a fault") {
  CHECK_THROWS_AS(run("  s_movk_i32 m0, 70\n  s_movrels_b32 s20, s40", 0), Failure);
}

TEST_CASE("neither VSKIP nor indexing can be switched on by s_setreg") {
  CHECK_THROWS_AS(run("  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 1", 0), Failure);
  CHECK_THROWS_AS(run("  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 1", 0), Failure);
}

TEST_CASE("VSKIP leaves vector instructions out, scalar ones in") {
  const auto skipped = run(R"(
  s_setvskip 1, 0
  v_mov_b32 v10, v20
  v_add_f32_e64 v11, -v20, v21 clamp
  s_mov_b32 s20, s41
  s_setvskip 0, 0
  v_mov_b32 v12, v22)",
                           0);
  CHECK(skipped[0] == 0);
  CHECK(skipped[1] == 0);
  CHECK(skipped[2] == 102);
  CHECK(skipped[4] == 201);
}

}  // namespace
}  // namespace monojit::emulator::test
