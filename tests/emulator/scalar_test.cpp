// Scalar instructions of 32 bits, and MODE.
#include <bit>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/emulator/device.h"
#include "tests/emulator/scalar_cases.h"

namespace monojit::emulator::test {
namespace {

using std::int32_t;
using std::int64_t;
using std::uint32_t;
using std::uint64_t;
using Inputs = ScalarInputs;
using Outcome = ScalarOutcome;

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
  check_scalar_cases(cases);
}

TEST_CASE("scalar comparisons") {
  using Relation = bool (*)(int64_t, int64_t);
  const std::pair<const char*, Relation> relations[] = {
      {"eq", [](int64_t x, int64_t y) { return x == y; }}, {"lg", [](int64_t x, int64_t y) { return x != y; }},
      {"gt", [](int64_t x, int64_t y) { return x > y; }},  {"ge", [](int64_t x, int64_t y) { return x >= y; }},
      {"lt", [](int64_t x, int64_t y) { return x < y; }},  {"le", [](int64_t x, int64_t y) { return x <= y; }}};
  constexpr uint32_t kNegative = 0xfffe;
  std::vector<ScalarCase> cases;
  for (const auto& [name, relation] : relations) {
    cases.push_back({fmt::format("s_cmp_{}_i32 s8, s10", name),
                     [=](const Inputs& i) { return Outcome{0, relation(i.sa(), i.sb())}; }});
    cases.push_back({fmt::format("s_cmp_{}_u32 s8, s10", name),
                     [=](const Inputs& i) { return Outcome{0, relation(i.a32(), i.b32())}; }});
    cases.push_back({fmt::format("s_cmpk_{}_i32 s8, {:#x}", name, kNegative),
                     [=](const Inputs& i) { return Outcome{0, relation(i.sa(), -2)}; }});
    cases.push_back({fmt::format("s_cmpk_{}_u32 s8, {:#x}", name, kNegative),
                     [=](const Inputs& i) { return Outcome{0, relation(i.a32(), kNegative)}; }});
  }
  check_scalar_cases(cases);
}

TEST_CASE("less common scalar instructions of 32 bits") {
  const auto carry = [](uint64_t sum) { return Outcome{sum & 0xffffffff, sum >> 32 != 0}; };
  const ScalarCase cases[] = {
      {"s_absdiff_i32 s12, s8, s10",
       [](const Inputs& i) {
         const uint32_t difference = i.a32() - i.b32();
         return nonzero(static_cast<int32_t>(difference) < 0 ? 0 - difference : difference);
       }},
      {"s_max_i32 s12, s8, s10",
       [](const Inputs& i) { return Outcome{low(std::max(i.sa(), i.sb())), i.sa() > i.sb()}; }},
      {"s_min_u32 s12, s8, s10",
       [](const Inputs& i) { return Outcome{std::min(i.a32(), i.b32()), i.a32() < i.b32()}; }},
      {"s_mov_b32 s12, s8\n s_mulk_i32 s12, 0xfffd",
       [](const Inputs& i) { return Outcome{low(i.sa() * -3LL), i.scc}; }},
      {"s_cmovk_i32 s12, 0xfff0", [](const Inputs& i) { return Outcome{i.scc != 0 ? 0xfffffff0 : 0, i.scc}; }},
      {"s_lshl1_add_u32 s12, s8, s10", [=](const Inputs& i) { return carry((uint64_t{i.a32()} << 1) + i.b32()); }},
      {"s_lshl2_add_u32 s12, s8, s10", [=](const Inputs& i) { return carry((uint64_t{i.a32()} << 2) + i.b32()); }},
      {"s_lshl4_add_u32 s12, s8, s10", [=](const Inputs& i) { return carry((uint64_t{i.a32()} << 4) + i.b32()); }},
      {"s_lshr_b32 s12, s8, s10", [](const Inputs& i) { return nonzero(i.a32() >> (i.b32() & 31)); }},
      {"s_nand_b32 s12, s8, s10", [](const Inputs& i) { return nonzero(low(~(i.a32() & i.b32()))); }},
      {"s_nor_b32 s12, s8, s10", [](const Inputs& i) { return nonzero(low(~(i.a32() | i.b32()))); }},
      {"s_xor_b32 s12, s8, s10", [](const Inputs& i) { return nonzero(i.a32() ^ i.b32()); }},
      {"s_not_b32 s12, s8", [](const Inputs& i) { return nonzero(low(~i.a32())); }},
      {"s_brev_b32 s12, s8",
       [](const Inputs& i) {
         uint64_t r = 0;
         for (int k = 0; k < 32; ++k) r |= uint64_t{i.a32() >> k & 1} << (31 - k);
         return Outcome{r, i.scc};
       }},
      {"s_bcnt0_i32_b32 s12, s8",
       [](const Inputs& i) { return nonzero(static_cast<uint64_t>(32 - std::popcount(i.a32()))); }},
      {"s_ff0_i32_b32 s12, s8",
       [](const Inputs& i) {
         return Outcome{i.a32() == 0xffffffff ? 0xffffffff : static_cast<uint64_t>(std::countr_one(i.a32())), i.scc};
       }},
      {"s_flbit_i32 s12, s8",
       [](const Inputs& i) {
         const uint32_t x = i.sa() < 0 ? ~i.a32() : i.a32();
         return Outcome{x == 0 ? 0xffffffff : static_cast<uint64_t>(std::countl_zero(x)), i.scc};
       }},
      {"s_sext_i32_i16 s12, s8", [](const Inputs& i) { return Outcome{low(static_cast<std::int16_t>(i.a)), i.scc}; }},
      {"s_mov_b32 s12, s10\n s_bitset0_b32 s12, s8",
       [](const Inputs& i) { return Outcome{i.b32() & ~(1u << (i.a32() & 31)), i.scc}; }},
      {"s_bitcmp0_b32 s8, s10", [](const Inputs& i) { return Outcome{0, (i.a32() >> (i.b32() & 31) & 1) == 0}; }},
      {"s_pack_ll_b32_b16 s12, s8, s10",
       [](const Inputs& i) { return Outcome{(i.a32() & 0xffff) | uint64_t{i.b32() & 0xffff} << 16, i.scc}; }},
      {"s_pack_hh_b32_b16 s12, s8, s10",
       [](const Inputs& i) { return Outcome{i.a32() >> 16 | (i.b32() & 0xffff0000), i.scc}; }},
      {"s_quadmask_b32 s12, s8",
       [](const Inputs& i) {
         uint64_t r = 0;
         for (int k = 0; k < 8; ++k) r |= uint64_t{(i.a32() >> 4 * k & 15) != 0} << k;
         return nonzero(r);
       }},
      {"s_wqm_b32 s12, s8",
       [](const Inputs& i) {
         uint64_t r = 0;
         for (int k = 0; k < 32; k += 4) r |= (i.a32() >> k & 15) != 0 ? uint64_t{15} << k : 0;
         return nonzero(r);
       }},
      {"s_bitreplicate_b64_b32 s[12:13], s8",
       [](const Inputs& i) {
         uint64_t r = 0;
         for (int k = 0; k < 64; ++k) r |= uint64_t{i.a32() >> k / 2 & 1} << k;
         return Outcome{r, i.scc};
       }},
  };
  check_scalar_cases(cases);
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
