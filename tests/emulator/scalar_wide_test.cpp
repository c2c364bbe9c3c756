// Scalar instructions of 64 bits, and of EXEC.
#include <bit>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/emulator/scalar_cases.h"

namespace monojit::emulator::test {
namespace {

using std::int64_t;
using std::uint64_t;
using Inputs = ScalarInputs;
using Outcome = ScalarOutcome;

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
  check_scalar_cases(cases);
}

TEST_CASE("less common scalar instructions of 64 bits") {
  const ScalarCase cases[] = {
      {"s_andn2_b64 s[12:13], s[8:9], s[10:11]", [](const Inputs& i) { return nonzero(i.a & ~i.b); }},
      {"s_or_b64 s[12:13], s[8:9], s[10:11]", [](const Inputs& i) { return nonzero(i.a | i.b); }},
      {"s_orn2_b64 s[12:13], s[8:9], s[10:11]", [](const Inputs& i) { return nonzero(i.a | ~i.b); }},
      {"s_xor_b64 s[12:13], s[8:9], s[10:11]", [](const Inputs& i) { return nonzero(i.a ^ i.b); }},
      {"s_xnor_b64 s[12:13], s[8:9], s[10:11]", [](const Inputs& i) { return nonzero(~(i.a ^ i.b)); }},
      {"s_nand_b64 s[12:13], s[8:9], s[10:11]", [](const Inputs& i) { return nonzero(~(i.a & i.b)); }},
      {"s_lshr_b64 s[12:13], s[8:9], s10", [](const Inputs& i) { return nonzero(i.a >> (i.b & 63)); }},
      {"s_bfm_b64 s[12:13], s8, s10",
       [](const Inputs& i) { return Outcome{((uint64_t{1} << (i.a & 63)) - 1) << (i.b & 63), i.scc}; }},
      {"s_bfe_i64 s[12:13], s[8:9], 0x140008",
       [](const Inputs& i) { return nonzero(static_cast<uint64_t>(static_cast<int64_t>(i.a << 36) >> 44)); }},
      {"s_cmov_b64 s[12:13], s[8:9]", [](const Inputs& i) { return Outcome{i.scc != 0 ? i.a : 0, i.scc}; }},
      {"s_cmp_lg_u64 s[8:9], s[10:11]", [](const Inputs& i) { return Outcome{0, i.a != i.b}; }},
      {"s_bitcmp0_b64 s[8:9], s10", [](const Inputs& i) { return Outcome{0, (i.a >> (i.b & 63) & 1) == 0}; }},
      {"s_bitcmp1_b64 s[8:9], s10", [](const Inputs& i) { return Outcome{0, (i.a >> (i.b & 63) & 1) != 0}; }},
      {"s_mov_b64 s[12:13], s[10:11]\n s_bitset0_b64 s[12:13], s8",
       [](const Inputs& i) { return Outcome{i.b & ~(uint64_t{1} << (i.a & 63)), i.scc}; }},
      {"s_mov_b64 s[12:13], s[10:11]\n s_bitset1_b64 s[12:13], s8",
       [](const Inputs& i) { return Outcome{i.b | uint64_t{1} << (i.a & 63), i.scc}; }},
      {"s_bcnt0_i32_b64 s12, s[8:9]",
       [](const Inputs& i) { return nonzero(static_cast<uint64_t>(64 - std::popcount(i.a))); }},
      {"s_ff0_i32_b64 s12, s[8:9]",
       [](const Inputs& i) {
         return Outcome{i.a == ~uint64_t{0} ? 0xffffffff : static_cast<uint64_t>(std::countr_one(i.a)), i.scc};
       }},
      {"s_flbit_i32_b64 s12, s[8:9]",
       [](const Inputs& i) {
         return Outcome{i.a == 0 ? 0xffffffff : static_cast<uint64_t>(std::countl_zero(i.a)), i.scc};
       }},
      {"s_flbit_i32_i64 s12, s[8:9]",
       [](const Inputs& i) {
         const uint64_t x = static_cast<int64_t>(i.a) < 0 ? ~i.a : i.a;
         return Outcome{x == 0 ? 0xffffffff : static_cast<uint64_t>(std::countl_zero(x)), i.scc};
       }},
      {"s_quadmask_b64 s[12:13], s[8:9]",
       [](const Inputs& i) {
         uint64_t r = 0;
         for (int k = 0; k < 16; ++k) r |= uint64_t{(i.a >> 4 * k & 15) != 0} << k;
         return nonzero(r);
       }},
  };
  check_scalar_cases(cases);
}

TEST_CASE("every combination of EXEC with a mask") {
  using Combination = uint64_t (*)(uint64_t, uint64_t);
  const std::pair<const char*, Combination> saves[] = {
      {"and", [](uint64_t m, uint64_t exec) { return m & exec; }},
      {"or", [](uint64_t m, uint64_t exec) { return m | exec; }},
      {"xor", [](uint64_t m, uint64_t exec) { return m ^ exec; }},
      {"andn1", [](uint64_t m, uint64_t exec) { return ~m & exec; }},
      {"andn2", [](uint64_t m, uint64_t exec) { return m & ~exec; }},
      {"orn1", [](uint64_t m, uint64_t exec) { return ~m | exec; }},
      {"orn2", [](uint64_t m, uint64_t exec) { return m | ~exec; }},
      {"nand", [](uint64_t m, uint64_t exec) { return ~(m & exec); }},
      {"nor", [](uint64_t m, uint64_t exec) { return ~(m | exec); }},
      {"xnor", [](uint64_t m, uint64_t exec) { return ~(m ^ exec); }},
  };
  std::vector<ScalarCase> cases;
  for (const auto& [name, combination] : saves) {
    cases.push_back({fmt::format("s_{}_saveexec_b64 s[12:13], s[8:9]", name),
                     [=](const Inputs& i) { return Outcome{i.exec, combination(i.a, i.exec) != 0}; }});
    cases.push_back({fmt::format("s_{}_saveexec_b64 s[8:9], s[8:9]\n s_mov_b64 s[12:13], exec", name),
                     [=](const Inputs& i) { return nonzero(combination(i.a, i.exec)); }});
  }
  for (const char* const name : {"andn1", "andn2"}) {
    const bool inverts_mask = std::string_view(name) == "andn1";
    const auto expected = [=](const Inputs& i) { return nonzero(inverts_mask ? ~i.a & i.exec : i.a & ~i.exec); };
    cases.push_back({fmt::format("s_{}_wrexec_b64 s[12:13], s[8:9]", name), expected});
    cases.push_back({fmt::format("s_{}_wrexec_b64 s[8:9], s[8:9]\n s_mov_b64 s[12:13], exec", name), expected});
  }
  check_scalar_cases(cases);
}

}  // namespace
}  // namespace monojit::emulator::test
