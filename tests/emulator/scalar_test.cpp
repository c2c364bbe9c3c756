// Scalar instructions: results, SCC and EXEC against definitions over edge values.
#include <bit>
#include <functional>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

using std::int32_t;
using std::int64_t;
using std::uint32_t;
using std::uint64_t;

struct Inputs {
  uint64_t a, b;
  uint32_t scc;
  uint64_t exec;
  [[nodiscard]] uint32_t a32() const { return static_cast<uint32_t>(a); }
  [[nodiscard]] uint32_t b32() const { return static_cast<uint32_t>(b); }
  [[nodiscard]] int32_t sa() const { return static_cast<int32_t>(a); }
  [[nodiscard]] int32_t sb() const { return static_cast<int32_t>(b); }
};

struct Outcome {
  uint64_t value;
  uint32_t scc;
};

/// a in s[8:9], b in s[10:11]; the result in s[12:13], which held zero.
struct ScalarCase {
  std::string text;
  std::function<Outcome(const Inputs&)> expected;
};

constexpr uint64_t kEdges[] = {0,
                               1,
                               2,
                               31,
                               0x7f,
                               0x80000000,
                               0x7fffffff,
                               0xffffffff,
                               0x1000c,
                               0x0f0f00f0,
                               0x80000000ffffffff,
                               0x7fffffffffffffff,
                               0x8000000000000000,
                               0xffffffffffffffff,
                               0x123456789abcdef0,
                               0x00400010};
constexpr uint64_t kExec = 0xff00ff000f0f1235;

void check(std::span<const ScalarCase> cases) {
  Device device;
  std::string body = "  s_load_dwordx8 s[0:7], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n  v_mov_b32 v1, 0\n";
  for (const ScalarCase& row : cases) {
    // s[0:1] a, s[2:3] b, s[4:5] output, s6 scc.
    body += fmt::format(R"(
  s_mov_b64 s[8:9], s[0:1]
  s_mov_b64 s[10:11], s[2:3]
  s_mov_b64 s[12:13], 0
  s_mov_b64 exec, {:#x}
  s_mov_b32 exec_hi, {:#x}
  s_cmp_lg_u32 s6, 0
  {}
  s_cselect_b32 s14, 1, 0
  s_mov_b64 exec, 1
  v_mov_b32 v2, s12
  v_mov_b32 v3, s13
  v_mov_b32 v4, s14
  global_store_dwordx3 v1, v[2:4], s[4:5]
  v_add_u32 v1, 16, v1
)",
                        kExec & 0xffffffff, kExec >> 32, row.text);
  }
  const auto out = device.allocate<uint64_t>(2 * cases.size());
  const Kernel& kernel = device.load(assemble({.body = body}), "kernel");
  for (const std::string& problem : kernel.program->problems) FAIL_CHECK(problem);
  for (const uint64_t a : kEdges) {
    for (const uint64_t b : kEdges) {
      for (const uint32_t scc : {0u, 1u}) {
        device.launch(kernel, {}, {a, b, out.address(), scc});
        for (std::size_t i = 0; i < cases.size(); ++i) {
          const Outcome want = cases[i].expected({a, b, scc, kExec});
          INFO(fmt::format("{}: a {:#x} b {:#x} scc {}: got {:#x} scc {}, want {:#x} scc {}", cases[i].text, a, b, scc,
                           out[2 * i], static_cast<uint32_t>(out[2 * i + 1]), want.value, want.scc));
          REQUIRE(out[2 * i] == want.value);
          REQUIRE(static_cast<uint32_t>(out[2 * i + 1]) == want.scc);
        }
      }
    }
  }
}

Outcome nonzero(uint64_t value) { return {value, value != 0}; }
uint64_t low(int64_t value) { return static_cast<uint32_t>(value); }

TEST_CASE("scalar instructions of 32 bits") {
  const ScalarCase cases[] = {
      {"s_mov_b32 s12, s8", [](const Inputs& i) { return Outcome{i.a32(), i.scc}; }},
      {"s_mov_b32 s12, 0x12345678", [](const Inputs& i) { return Outcome{0x12345678, i.scc}; }},
      {"s_movk_i32 s12, 0x8001", [](const Inputs& i) { return Outcome{0xffff8001, i.scc}; }},
      {"s_cmov_b32 s12, s8", [](const Inputs& i) { return Outcome{i.scc != 0 ? i.a32() : 0, i.scc}; }},
      {"s_cselect_b32 s12, s8, s10", [](const Inputs& i) { return Outcome{i.scc != 0 ? i.a32() : i.b32(), i.scc}; }},
      {"s_add_u32 s12, s8, s10",
       [](const Inputs& i) {
         return Outcome{i.a32() + i.b32(), static_cast<uint32_t>((uint64_t{i.a32()} + i.b32()) >> 32)};
       }},
      {"s_addc_u32 s12, s8, s10",
       [](const Inputs& i) {
         const uint64_t sum = uint64_t{i.a32()} + i.b32() + i.scc;
         return Outcome{sum & 0xffffffff, static_cast<uint32_t>(sum >> 32)};
       }},
      {"s_sub_u32 s12, s8, s10", [](const Inputs& i) { return Outcome{i.a32() - i.b32(), i.b32() > i.a32()}; }},
      {"s_subb_u32 s12, s8, s10",
       [](const Inputs& i) { return Outcome{i.a32() - i.b32() - i.scc, uint64_t{i.b32()} + i.scc > i.a32()}; }},
      {"s_add_i32 s12, s8, s10",
       [](const Inputs& i) {
         const int64_t sum = int64_t{i.sa()} + i.sb();
         return Outcome{low(sum), sum != static_cast<int32_t>(sum)};
       }},
      {"s_sub_i32 s12, s8, s10",
       [](const Inputs& i) {
         const int64_t difference = int64_t{i.sa()} - i.sb();
         return Outcome{low(difference), difference != static_cast<int32_t>(difference)};
       }},
      {"s_addk_i32 s12, 0xfff0\n s_mov_b32 s12, s8\n s_addk_i32 s12, 0xfff0",
       [](const Inputs& i) {
         const int64_t sum = int64_t{i.sa()} - 16;
         return Outcome{low(sum), sum != static_cast<int32_t>(sum)};
       }},
      {"s_mul_i32 s12, s8, s10", [](const Inputs& i) { return Outcome{i.a32() * i.b32(), i.scc}; }},
      {"s_mul_hi_u32 s12, s8, s10", [](const Inputs& i) { return Outcome{uint64_t{i.a32()} * i.b32() >> 32, i.scc}; }},
      {"s_mul_hi_i32 s12, s8, s10",
       [](const Inputs& i) { return Outcome{low(int64_t{i.sa()} * i.sb() >> 32), i.scc}; }},
      {"s_min_i32 s12, s8, s10",
       [](const Inputs& i) { return Outcome{low(std::min(i.sa(), i.sb())), i.sa() < i.sb()}; }},
      {"s_max_u32 s12, s8, s10",
       [](const Inputs& i) { return Outcome{std::max(i.a32(), i.b32()), i.a32() > i.b32()}; }},
      {"s_and_b32 s12, s8, s10", [](const Inputs& i) { return nonzero(i.a32() & i.b32()); }},
      {"s_andn2_b32 s12, s8, s10", [](const Inputs& i) { return nonzero(i.a32() & ~i.b32()); }},
      {"s_orn2_b32 s12, s8, s10", [](const Inputs& i) { return nonzero(static_cast<uint32_t>(i.a32() | ~i.b32())); }},
      {"s_xnor_b32 s12, s8, s10", [](const Inputs& i) { return nonzero(static_cast<uint32_t>(~(i.a32() ^ i.b32()))); }},
      {"s_lshl_b32 s12, s8, s10",
       [](const Inputs& i) { return nonzero(static_cast<uint32_t>(i.a32() << (i.b32() & 31))); }},
      {"s_ashr_i32 s12, s8, s10", [](const Inputs& i) { return nonzero(low(i.sa() >> (i.b32() & 31))); }},
      {"s_bfm_b32 s12, s8, s10",
       [](const Inputs& i) {
         return Outcome{static_cast<uint32_t>(((1u << (i.a32() & 31)) - 1) << (i.b32() & 31)), i.scc};
       }},
      {"s_bfe_u32 s12, s8, 0x80004", [](const Inputs& i) { return nonzero(i.a32() >> 4 & 0xff); }},
      {"s_bfe_i32 s12, s8, 0x80004",
       [](const Inputs& i) { return nonzero(low(static_cast<std::int8_t>(i.a32() >> 4))); }},
      {"s_lshl3_add_u32 s12, s8, s10",
       [](const Inputs& i) {
         const uint64_t sum = (uint64_t{i.a32()} << 3) + i.b32();
         return Outcome{sum & 0xffffffff, sum >> 32 != 0};
       }},
      {"s_pack_lh_b32_b16 s12, s8, s10",
       [](const Inputs& i) { return Outcome{(i.a32() & 0xffff) | (i.b32() & 0xffff0000), i.scc}; }},
      {"s_bcnt1_i32_b32 s12, s8",
       [](const Inputs& i) { return nonzero(static_cast<uint64_t>(std::popcount(i.a32()))); }},
      {"s_ff1_i32_b32 s12, s8",
       [](const Inputs& i) {
         return Outcome{i.a32() == 0 ? 0xffffffff : static_cast<uint64_t>(std::countr_zero(i.a32())), i.scc};
       }},
      {"s_flbit_i32_b32 s12, s8",
       [](const Inputs& i) {
         return Outcome{i.a32() == 0 ? 0xffffffff : static_cast<uint64_t>(std::countl_zero(i.a32())), i.scc};
       }},
      {"s_sext_i32_i8 s12, s8", [](const Inputs& i) { return Outcome{low(static_cast<std::int8_t>(i.a)), i.scc}; }},
      {"s_abs_i32 s12, s8", [](const Inputs& i) { return nonzero(low(i.sa() < 0 ? -int64_t{i.sa()} : i.sa())); }},
      {"s_bitset1_b32 s12, s8", [](const Inputs& i) { return Outcome{uint64_t{1u << (i.a32() & 31)}, i.scc}; }},
      {"s_cmp_gt_i32 s8, s10", [](const Inputs& i) { return Outcome{0, i.sa() > i.sb()}; }},
      {"s_cmp_le_u32 s8, s10", [](const Inputs& i) { return Outcome{0, i.a32() <= i.b32()}; }},
      {"s_cmpk_lt_i32 s8, 0xfffe", [](const Inputs& i) { return Outcome{0, i.sa() < -2}; }},
      {"s_cmpk_lg_u32 s8, 0xffff", [](const Inputs& i) { return Outcome{0, i.a32() != 0xffff}; }},
      {"s_bitcmp1_b32 s8, s10", [](const Inputs& i) { return Outcome{0, i.a32() >> (i.b32() & 31) & 1}; }},
  };
  check(cases);
}

TEST_CASE("scalar instructions of 64 bits and of EXEC") {
  const ScalarCase cases[] = {
      {"s_mov_b64 s[12:13], s[8:9]", [](const Inputs& i) { return Outcome{i.a, i.scc}; }},
      {"s_mov_b64 s[12:13], -3", [](const Inputs& i) { return Outcome{static_cast<uint64_t>(-3), i.scc}; }},
      {"s_cselect_b64 s[12:13], s[8:9], s[10:11]",
       [](const Inputs& i) { return Outcome{i.scc != 0 ? i.a : i.b, i.scc}; }},
      {"s_and_b64 s[12:13], s[8:9], s[10:11]", [](const Inputs& i) { return nonzero(i.a & i.b); }},
      {"s_nor_b64 s[12:13], s[8:9], s[10:11]", [](const Inputs& i) { return nonzero(~(i.a | i.b)); }},
      {"s_not_b64 s[12:13], s[8:9]", [](const Inputs& i) { return nonzero(~i.a); }},
      {"s_lshl_b64 s[12:13], s[8:9], s10", [](const Inputs& i) { return nonzero(i.a << (i.b & 63)); }},
      {"s_ashr_i64 s[12:13], s[8:9], s10",
       [](const Inputs& i) { return nonzero(static_cast<uint64_t>(static_cast<int64_t>(i.a) >> (i.b & 63))); }},
      {"s_bfe_u64 s[12:13], s[8:9], 0x140008", [](const Inputs& i) { return nonzero(i.a >> 8 & 0xfffff); }},
      {"s_bcnt1_i32_b64 s12, s[8:9]",
       [](const Inputs& i) { return nonzero(static_cast<uint64_t>(std::popcount(i.a))); }},
      {"s_ff1_i32_b64 s12, s[8:9]",
       [](const Inputs& i) {
         return Outcome{i.a == 0 ? 0xffffffff : static_cast<uint64_t>(std::countr_zero(i.a)), i.scc};
       }},
      {"s_cmp_eq_u64 s[8:9], s[10:11]", [](const Inputs& i) { return Outcome{0, i.a == i.b}; }},
      {"s_brev_b64 s[12:13], s[8:9]",
       [](const Inputs& i) {
         uint64_t r = 0;
         for (int k = 0; k < 64; ++k) r |= (i.a >> k & 1) << (63 - k);
         return Outcome{r, i.scc};
       }},
      {"s_wqm_b64 s[12:13], s[8:9]",
       [](const Inputs& i) {
         uint64_t r = 0;
         for (int k = 0; k < 64; k += 4) r |= (i.a >> k & 15) != 0 ? uint64_t{15} << k : 0;
         return nonzero(r);
       }},
      {"s_and_saveexec_b64 s[12:13], s[8:9]", [](const Inputs& i) { return Outcome{i.exec, (i.a & i.exec) != 0}; }},
      {"s_or_saveexec_b64 s[8:9], s[8:9]\n s_mov_b64 s[12:13], exec",
       [](const Inputs& i) { return nonzero(i.a | i.exec); }},
      {"s_xor_saveexec_b64 s[8:9], s[8:9]\n s_mov_b64 s[12:13], exec",
       [](const Inputs& i) { return nonzero(i.a ^ i.exec); }},
      {"s_andn2_saveexec_b64 s[8:9], s[8:9]\n s_mov_b64 s[12:13], exec",
       [](const Inputs& i) { return nonzero(i.a & ~i.exec); }},
      {"s_andn1_saveexec_b64 s[8:9], s[8:9]\n s_mov_b64 s[12:13], exec",
       [](const Inputs& i) { return nonzero(~i.a & i.exec); }},
      {"s_getreg_b32 s12, hwreg(HW_REG_MODE, 4, 4)", [](const Inputs& i) { return Outcome{15, i.scc}; }},
      {"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3\n s_getreg_b32 s12, hwreg(HW_REG_MODE, 0, 4)\n "
       "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0",
       [](const Inputs& i) { return Outcome{3, i.scc}; }},
  };
  check(cases);
}

TEST_CASE("the rounding mode of f32 is that of MODE") {
  Device device;
  const auto out = device.allocate<uint32_t>(4);
  std::string body =
      "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  v_mov_b32 v1, 1.0\n  v_mov_b32 v2, 0x30000000\n  v_mov_b32 v5, 0\n";
  for (int mode = 0; mode < 4; ++mode) {
    body += fmt::format(
        "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), {}\n  v_add_f32 v3, v1, v2\n  s_waitcnt lgkmcnt(0)\n  "
        "global_store_dword v5, v3, s[4:5] offset:{}\n",
        mode, 4 * mode);
  }
  device.run({.body = body}, {.block = {1, 1, 1}}, {out.address()});
  CHECK(out[0] == 0x3f800000);  // nearest
  CHECK(out[1] == 0x3f800001);  // up
  CHECK(out[2] == 0x3f800000);  // down
  CHECK(out[3] == 0x3f800000);  // towards zero
}

}  // namespace
}  // namespace monojit::emulator::test
