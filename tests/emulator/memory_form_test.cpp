// Forms of memory instructions: flat addresses in LDS and scratch, scratch's address modes, loads to LDS, swizzled and
// thread-indexed buffers, float atomics in memory, scalar stores and atomics, alignment.
#include <bit>
#include <numeric>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>

#include "tests/emulator/lane_program.h"

namespace monojit::emulator::test {
namespace {

using Catch::Matchers::ContainsSubstring;

std::vector<std::uint32_t> counting_words() {
  std::vector<std::uint32_t> words(1024);
  std::iota(words.begin(), words.end(), 1000u);
  return words;
}

TEST_CASE("flat addresses reach LDS and scratch through their apertures; global ones do not") {
  const auto got = run_lanes({.body = R"(
  s_mov_b64 s[20:21], src_shared_base
  s_mov_b64 s[22:23], src_private_base
  v_lshlrev_b32 v10, 3, v0
  v_mov_b32 v11, s21
  v_mov_b32 v12, 16
  v_mov_b32 v13, s23
  v_add_u32 v14, 0x500, v0
  flat_store_dword v[10:11], v14 offset:4
  flat_store_dword v[12:13], v0 offset:8
  s_waitcnt vmcnt(0) lgkmcnt(0)
  flat_atomic_add v7, v[10:11], v0 offset:4 sc0
  ds_read_b32 v4, v10 offset:4
  scratch_load_dword v5, off, off offset:24
  flat_load_dword v6, v[12:13] offset:8
)",
                              .lds_bytes = 1024,
                              .scratch_bytes = 64});
  for (std::uint32_t lane = 0; lane < 64; ++lane) {
    REQUIRE(got.at(lane, 0) == 0x500 + 2 * lane);
    REQUIRE(got.at(lane, 1) == lane);
    REQUIRE(got.at(lane, 2) == lane);
    REQUIRE(got.at(lane, 3) == 0x500 + lane);
  }
  const std::string shared = "s_mov_b64 s[20:21], src_shared_base\n v_mov_b32 v10, 0\n v_mov_b32 v11, s21\n";
  CHECK_THAT(failure_text({.body = shared + "global_load_dword v4, v[10:11], off", .lds_bytes = 64}),
             ContainsSubstring("load of 4 bytes at 0x1000000000000 by lane 0"));
  CHECK_THAT(failure_text({.body = shared + "flat_load_dwordx4 v[4:7], v[10:11] offset:56", .lds_bytes = 64}),
             ContainsSubstring("LDS access of 16 bytes at 0x38 by lane 0"));
}

TEST_CASE("scratch addresses add scalar, vector and immediate parts") {
  const auto got = run_lanes({.body = R"(
  s_movk_i32 s20, 0x20
  v_mov_b32 v10, 8
  v_mov_b32 v11, 0x100
  v_add_u32 v12, v11, v0
  scratch_store_dword off, v12, off offset:4
  v_add_u32 v12, v11, v12
  scratch_store_dword off, v12, s20 offset:-4
  v_add_u32 v12, v11, v12
  scratch_store_dword v10, v12, off offset:4
  v_add_u32 v12, v11, v12
  scratch_store_dword v10, v12, s20 offset:-16
  s_waitcnt vmcnt(0)
  scratch_load_dword v4, off, off offset:4
  scratch_load_dword v5, off, off offset:28
  scratch_load_dword v6, off, off offset:12
  scratch_load_dword v7, off, off offset:24
)",
                              .scratch_bytes = 64});
  for (std::uint32_t lane = 0; lane < 64; ++lane)
    for (std::uint32_t i = 0; i < 4; ++i) REQUIRE(got.at(lane, i) == 0x100 * (i + 1) + lane);
  CHECK_THAT(failure_text({.body = "scratch_load_dwordx2 v[4:5], off, off offset:60", .scratch_bytes = 64}),
             ContainsSubstring("scratch access of 8 bytes at 0x3c by lane 0: a lane has 64 bytes of scratch"));
}

TEST_CASE("loads to LDS from buffers, global memory and scratch extend narrow data") {
  std::vector<std::uint32_t> words(1024, 0x8081f2f3);
  const auto run = [&](const std::string& load) {
    return run_lanes({.body = "s_mov_b32 s20, 0x8081f2f3\n v_mov_b32 v9, s20\n"
                              "scratch_store_dword off, v9, off\n s_waitcnt vmcnt(0)\n s_mov_b32 m0, 0x40\n" +
                              load + "\n s_waitcnt vmcnt(0)\n v_lshlrev_b32 v9, 2, v0\n ds_read_b32 v4, v9 offset:64",
                      .data = words,
                      .lds_bytes = 512,
                      .scratch_bytes = 16});
  };
  const std::tuple<const char*, std::uint32_t> kinds[] = {
      {"ubyte", 0xf3}, {"sbyte", 0xfffffff3}, {"ushort", 0xf2f3}, {"sshort", 0xfffff2f3}, {"dword", 0x8081f2f3}};
  for (const auto& [kind, want] : kinds) {
    for (const std::string& load :
         {fmt::format("buffer_load_{} v1, s[8:11], 0 offen lds", kind),
          fmt::format("global_load_lds_{} v[2:3], off", kind), fmt::format("global_load_lds_{} v1, s[4:5]", kind),
          fmt::format("scratch_load_lds_{} v30, off", kind)}) {
      const auto got = run(load);
      for (std::uint32_t lane = 0; lane < 64; ++lane) {
        INFO(load << " lane " << lane);
        REQUIRE(got.at(lane) == want);
      }
    }
  }
}

TEST_CASE("a swizzled buffer interleaves the dwords of its records") {
  const auto words = counting_words();
  // Stride 16, 8 records to a group: dword d of record i is at ((i / 8) * 16 + 4 * d) * 8 + 4 * (i % 8).
  for (std::uint32_t dword = 0; dword < 4; ++dword) {
    const auto got =
        run_lanes({.body = fmt::format("s_or_b32 s9, s9, 0x80000000\n v_mov_b32 v2, v0\n v_mov_b32 v3, {}\n"
                                       "buffer_load_dword v4, v[2:3], s[8:11], 0 idxen offen",
                                       4 * dword),
                   .data = words,
                   .records = 40,
                   .stride = 16});
    for (std::uint32_t lane = 0; lane < 64; ++lane) {
      const std::uint32_t address = (lane / 8 * 16 + 4 * dword) * 8 + 4 * (lane % 8);
      REQUIRE(got.at(lane) == (lane < 40 ? words[address / 4] : 0));
    }
  }
}

TEST_CASE("a buffer that adds the thread id has more stride bits and no range check") {
  const auto words = counting_words();
  const std::uint32_t add_thread = 1u << 23;
  const auto got = run_lanes({.body = "buffer_load_dword v4, off, s[8:11], 0 offset:8",
                              .data = words,
                              .records = 0,
                              .stride = 12,
                              .flags = add_thread});
  for (std::uint32_t lane = 0; lane < 64; ++lane) REQUIRE(got.at(lane) == words[(12 * lane + 8) / 4]);
  // Data format 1 is bit 14 of the stride: lane 1 lies 16 KiB further, outside the allocation.
  CHECK_THAT(failure_text({.body = "buffer_load_dword v4, off, s[8:11], 0", .flags = add_thread | 1 << 15}),
             ContainsSubstring("by lane 1: "));
}

TEST_CASE("accesses where the documented range rule and the chip's differ are counted") {
  // Offsets 4 * lane, dwords: 100 bytes hold lanes 0..24. With soffset 8 two lanes fewer, which the documented rule
  // would let through; an access that only begins inside is let through too.
  const auto plain = run_lanes({.body = "buffer_load_dword v4, v1, s[8:11], 0 offen", .records = 100});
  CHECK(plain.report.out_of_range_buffer_lanes == 64 - 25);
  CHECK(plain.report.buffer_rule_differences == 0);
  const auto moved = run_lanes({.body = "buffer_load_dword v4, v1, s[8:11], 8 offen", .records = 100});
  CHECK(moved.report.out_of_range_buffer_lanes == 64 - 23);
  CHECK(moved.report.buffer_rule_differences == 2);
  const auto cut = run_lanes({.body = "buffer_load_dword v4, v1, s[8:11], 0 offen", .records = 102});
  CHECK(cut.report.buffer_rule_differences == 1);
}

/// Atomic by lane 0 on the first words of the buffer, with v[10:11] as data: what memory holds afterwards.
std::uint64_t run_atomic(const std::string& text, std::uint64_t memory, std::uint64_t data, std::uint32_t mode = 0xf0) {
  std::vector<std::uint32_t> words(1024);
  std::memcpy(words.data(), &memory, sizeof memory);
  const auto got =
      run_lanes({.body = fmt::format("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), {:#x}\n v_mov_b32 v10, {:#x}\n"
                                     "v_mov_b32 v11, {:#x}\n {}",
                                     mode, data & 0xffffffff, data >> 32, text),
                 .data = words,
                 .exec = 1});
  return std::uint64_t{got.memory[0]} | std::uint64_t{got.memory[1]} << 32;
}

TEST_CASE("float atomics in memory round to nearest and treat denormals by type, whatever MODE says") {
  constexpr std::uint32_t kKeep = 0xf0, kFlushTowardsZero = 0x0f;
  for (const std::uint32_t mode : {kKeep, kFlushTowardsZero}) {
    for (const std::string form : {"global_atomic_{} v30, {}, s[4:5]", "buffer_atomic_{} {}, v30, s[8:11], 0 offen",
                                   "flat_atomic_{} v[2:3], {}"}) {
      const auto run = [&](const char* name, const char* data_register, std::uint64_t memory, std::uint64_t data) {
        return run_atomic(fmt::format(fmt::runtime(form), name, data_register), memory, data, mode);
      };
      INFO(form << " mode " << mode);
      CHECK(run("add_f32", "v10", 0x4b800000, 0x40400000) == 0x4b800002);
      CHECK(run("add_f32", "v10", 0x00400000, 0x00400000) == 0);
      CHECK(run("add_f32", "v10", 0x3f800000, 0x7f812345) == 0x7fc12345);
      CHECK(run("add_f64", "v[10:11]", 1, 2) == 3);
      CHECK(run("min_f64", "v[10:11]", 2, 1) == 1);
      CHECK(run("max_f64", "v[10:11]", 1, 2) == 2);
      CHECK(run("pk_add_f16", "v10", 0x68000200, 0x42000200) == 0x68020400);
      CHECK(run("pk_add_bf16", "v10", 0x43800040, 0x40400040) == 0x43820080);
    }
  }
}

TEST_CASE("float atomics give back what memory held") {
  std::vector<std::uint32_t> words(1024, 0x3f800000);
  const auto got = run_lanes({.body = "v_mov_b32 v4, 2.0\n v_mov_b32 v10, 2.0\n"
                                      "buffer_atomic_add_f32 v4, v1, s[8:11], 0 offen sc0\n s_waitcnt vmcnt(0)\n"
                                      "global_atomic_add_f32 v5, v1, v10, s[4:5] sc0",
                              .data = words});
  for (std::uint32_t lane = 0; lane < 64; ++lane) {
    REQUIRE(got.at(lane, 0) == 0x3f800000);
    REQUIRE(got.at(lane, 1) == 0x40400000);
    REQUIRE(got.memory[lane] == 0x40a00000);
  }
}

TEST_CASE("scalar stores, atomics and scratch loads") {
  const auto got = run_lanes({.body = R"(
  s_mov_b32 s20, 7
  s_mov_b32 s21, 8
  s_movk_i32 m0, 0x10
  s_store_dwordx2 s[20:21], s[4:5], 0x8
  s_store_dword s21, s[4:5], m0 offset:0x10
  s_buffer_store_dword s20, s[8:11], 0x100
  s_mov_b32 s22, 5
  s_mov_b32 s23, 6
  s_atomic_add s22, s[4:5], 0x40 glc
  s_atomic_umax s23, s[4:5], 0x44
  s_mov_b32 s24, 99
  s_mov_b32 s25, 1018
  s_atomic_cmpswap s[24:25], s[4:5], 0x48
  s_mov_b32 s26, 3
  s_buffer_atomic_or s26, s[8:11], 0x1000 glc
  s_movk_i32 s27, 2
  s_scratch_load_dword s28, s[4:5], s27 offset:0x4
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v4, s22
  v_mov_b32 v5, s23
  v_mov_b32 v6, s26
  v_mov_b32 v7, s28
)",
                              .data = counting_words(),
                              .records = 0x100});
  CHECK(got.memory[2] == 7);
  CHECK(got.memory[3] == 8);
  CHECK(got.memory[8] == 8);
  CHECK(got.memory[0x40] == 1000 + 0x40);  // behind num_records: dropped
  CHECK(got.memory[0x10] == 1016 + 5);
  CHECK(got.memory[0x11] == 1017);
  CHECK(got.memory[0x12] == 99);
  CHECK(got.at(0, 0) == 1016);
  CHECK(got.at(0, 1) == 6);
  CHECK(got.at(0, 2) == 0);
  CHECK(got.at(0, 3) == 1000 + (2 * 64 + 4) / 4);
}

TEST_CASE("misaligned accesses that a chip cannot make are faults; the strict rule knows more of them") {
  CHECK_THAT(failure_text({.body = "v_mov_b32 v1, 2\n buffer_load_dwordx2 v[4:5], v1, s[8:11], 0 offen"}),
             ContainsSubstring("misaligned load of 8 bytes"));
  CHECK_THAT(failure_text({.body = "v_mov_b32 v1, 2\n global_atomic_add v1, v0, s[4:5]"}),
             ContainsSubstring("misaligned atomic operation of 4 bytes"));
  CHECK_THAT(failure_text({.body = "v_mov_b32 v1, 4\n buffer_atomic_add_x2 v[4:5], v1, s[8:11], 0 offen"}),
             ContainsSubstring("the address must be a multiple of 8"));
  LaneProgram program{.body = "v_mov_b32 v1, 2\n global_load_dwordx2 v[4:5], v1, s[4:5]", .data = counting_words()};
  CHECK(run_lanes(program).at(0) == (1000 >> 16 | 1001 << 16));
  program.settings.strict_alignment = true;
  CHECK_THAT(failure_text(program), ContainsSubstring("misaligned load of 8 bytes"));
  program.body = "v_mov_b32 v1, 4\n global_load_dwordx2 v[4:5], v1, s[4:5]";
  CHECK(run_lanes(program).at(0) == 1001);
  CHECK_THAT(failure_text({.body = "s_mov_b32 m0, 2\n buffer_load_dword v1, s[8:11], 0 offen lds", .lds_bytes = 512}),
             ContainsSubstring("misaligned store of 4 bytes at LDS address 0x2"));
}

}  // namespace
}  // namespace monojit::emulator::test
