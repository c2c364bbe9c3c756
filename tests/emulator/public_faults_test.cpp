// What public emulators of these chips got wrong, one test each. Sources: reports and pull requests against them, and
// the CDNA4 reference where they cite it.
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/emulator/lane_program.h"

namespace monojit::emulator::test {
namespace {

std::vector<std::uint32_t> counting_words() {
  std::vector<std::uint32_t> words(1024);
  std::iota(words.begin(), words.end(), 1000u);
  return words;
}

TEST_CASE("public fault: an inline constant as a buffer instruction's scalar offset is its value, not a register") {
  const auto words = counting_words();
  for (const std::uint32_t offset : {0u, 4u, 16u, 64u}) {
    const auto got =
        run_lanes({.body = fmt::format("buffer_load_dword v4, v1, s[8:11], {} offen offset:8", offset), .data = words});
    for (std::uint32_t lane = 0; lane < 64; ++lane) REQUIRE(got.at(lane) == words[lane + 2 + offset / 4]);
  }
  const auto from_m0 =
      run_lanes({.body = "s_movk_i32 m0, 0x20\n buffer_load_dword v4, v1, s[8:11], m0 offen", .data = words});
  for (std::uint32_t lane = 0; lane < 64; ++lane) REQUIRE(from_m0.at(lane) == words[lane + 8]);
}

TEST_CASE("public fault: transposed LDS reads take their lanes in the right order") {
  // A row of 16-bit numbers 4 * lane .. 4 * lane + 3 in each lane's 8 bytes. Four lanes' rows make a 4 x 16 block of
  // columns: lane l of 16 gets, as its element n, number l & 3 of lane (l >> 2) + 4 * n.
  const auto halves = run_lanes({.body = R"(
  v_lshlrev_b32 v1, 3, v0
  v_lshlrev_b32 v8, 2, v0
  v_add_u32 v9, 1, v8
  v_lshl_or_b32 v10, v9, 16, v8
  v_add_u32 v11, 0x00020002, v10
  ds_write_b64 v1, v[10:11]
  s_waitcnt lgkmcnt(0)
  ds_read_b64_tr_b16 v[4:5], v1
)",
                                 .lds_bytes = 512});
  for (std::uint32_t lane = 0; lane < 64; ++lane)
    for (std::uint32_t n = 0; n < 4; ++n) {
      const std::uint32_t source = lane / 16 * 16 + (lane % 16 >> 2) + 4 * n;
      INFO("lane " << lane << " element " << n);
      REQUIRE((halves.at(lane, n / 2) >> (16 * (n % 2)) & 0xffff) == 4 * source + (lane & 3));
    }
  // The same with bytes: lane l's element n is byte l & 7 of lane (l >> 3) + 2 * n. A byte is 8 * (lane % 16) + index.
  const auto bytes = run_lanes({.body = R"(
  v_lshlrev_b32 v1, 3, v0
  v_and_b32 v8, 15, v0
  v_lshlrev_b32 v8, 3, v8
  v_mul_u32_u24 v8, 0x10101, v8
  v_and_b32 v9, 15, v0
  v_lshlrev_b32 v9, 27, v9
  v_or_b32 v8, v8, v9
  v_add_u32 v10, 0x03020100, v8
  v_add_u32 v11, 0x07060504, v8
  ds_write_b64 v1, v[10:11]
  s_waitcnt lgkmcnt(0)
  ds_read_b64_tr_b8 v[4:5], v1
)",
                                .lds_bytes = 512});
  for (std::uint32_t lane = 0; lane < 64; ++lane)
    for (std::uint32_t n = 0; n < 8; ++n) {
      const std::uint32_t source = (lane % 16 >> 3) + 2 * n;
      INFO("lane " << lane << " element " << n);
      REQUIRE((bytes.at(lane, n / 4) >> (8 * (n % 4)) & 0xff) == 8 * source + (lane & 7));
    }
}

TEST_CASE("public fault: out-of-range lanes of a load to LDS write zero") {
  const auto words = counting_words();
  for (const std::string width : {"dword", "dwordx4"}) {
    const std::uint32_t bytes = width == "dword" ? 4 : 16;
    const auto got = run_lanes({.body = fmt::format(R"(
  v_mov_b32 v8, -1
  v_mov_b32 v9, -1
  v_mov_b32 v10, -1
  v_mov_b32 v11, -1
  v_lshlrev_b32 v12, 4, v0
  ds_write_b128 v12, v[8:11]
  s_waitcnt lgkmcnt(0)
  s_mov_b32 m0, 0
  buffer_load_{} v1, s[8:11], 0 offen lds
  s_waitcnt vmcnt(0)
  v_mul_u32_u24 v12, {}, v0
  ds_read_b32 v4, v12
)",
                                                    width, bytes),
                                .data = words,
                                .pitch = bytes,
                                .records = 40 * bytes,
                                .lds_bytes = 1024});
    for (std::uint32_t lane = 0; lane < 64; ++lane) {
      INFO(width << " lane " << lane);
      REQUIRE(got.at(lane) == (lane < 40 ? words[lane * bytes / 4] : 0));
    }
  }
}

TEST_CASE("public fault: the instruction offset of a load to LDS counts on both sides") {
  const auto words = counting_words();
  const auto got = run_lanes({.body = "s_mov_b32 m0, 0x10\n buffer_load_dword v1, s[8:11], 0 offen offset:12 lds\n"
                                      "s_waitcnt vmcnt(0)\n v_lshlrev_b32 v12, 2, v0\n ds_read_b32 v4, v12 offset:28",
                              .data = words,
                              .lds_bytes = 512});
  for (std::uint32_t lane = 0; lane < 64; ++lane) REQUIRE(got.at(lane) == words[lane + 3]);
  // soffset and the lane's offset count on the memory's side only.
  const auto shifted =
      run_lanes({.body = "s_mov_b32 m0, 0\n v_add_u32 v1, 8, v1\n buffer_load_dword v1, s[8:11], 16 "
                         "offen lds\n s_waitcnt vmcnt(0)\n v_lshlrev_b32 v12, 2, v0\n ds_read_b32 v4, v12",
                 .data = words,
                 .lds_bytes = 512});
  for (std::uint32_t lane = 0; lane < 64; ++lane) REQUIRE(shifted.at(lane) == words[lane + 6]);
}

/// Runs a scaled MFMA on all-one operands: `a` and `b` are the words that fill A's and B's registers, `scales` the
/// words of v16 and v17. All elements of D must be equal; gives back the one value.
float run_scaled(const std::string& tail, std::uint32_t a, std::uint32_t b, std::array<std::uint32_t, 2> scales) {
  std::string body = "v_lshlrev_b32 v1, 4, v0\n";
  for (int i = 0; i < 8; ++i)
    body += fmt::format("v_mov_b32 v{}, {:#x}\n v_mov_b32 v{}, {:#x}\n", 20 + i, a, 40 + i, b);
  body += fmt::format("v_mov_b32 v16, {:#x}\n v_mov_b32 v17, {:#x}\n {}\n s_nop 15", scales[0], scales[1], tail);
  const auto got = run_lanes({.body = body});
  for (const std::uint32_t word : got.words) REQUIRE(word == got.words[0]);
  return std::bit_cast<float>(got.words[0]);
}

TEST_CASE("public fault: a scaled MFMA takes the scale byte that op_sel and op_sel_hi name, for each operand apart") {
  // Bytes 0..3 of the scales are 1, 2, 4, 8 for A and 1, 16, 256, 4096 for B.
  const std::array<std::uint32_t, 2> scales = {0x8281807f, 0x8b87837f};
  for (std::uint32_t byte_a = 0; byte_a < 4; ++byte_a)
    for (std::uint32_t byte_b = 0; byte_b < 4; ++byte_b) {
      const float got = run_scaled(
          fmt::format("v_mfma_scale_f32_16x16x128_f8f6f4 v[4:7], v[20:23], v[40:43], 0, v16, v17 op_sel:[{},{},0] "
                      "op_sel_hi:[{},{},0] cbsz:4 blgp:4",
                      byte_a & 1, byte_b & 1, byte_a >> 1, byte_b >> 1),
          0x22222222, 0x22222222, scales);
      INFO("bytes " << byte_a << " and " << byte_b);
      REQUIRE(got == 128 * std::ldexp(1.0f, static_cast<int>(byte_a)) * std::ldexp(1.0f, static_cast<int>(4 * byte_b)));
    }
}

TEST_CASE("public fault: a scaled MFMA mixes operands of different widths") {
  const std::array<std::uint32_t, 2> scales = {0x7f7f7f80, 0x7f7f7f81};
  struct Format {
    int code, registers;
    std::uint32_t ones;  ///< a register full of ones; 6-bit ones do not fit registers evenly and are left out
  };
  const Format formats[] = {{0, 8, 0x38383838}, {1, 8, 0x3c3c3c3c}, {4, 4, 0x22222222}};
  for (const Format& a : formats)
    for (const Format& b : formats) {
      const float got = run_scaled(
          fmt::format("v_mfma_scale_f32_16x16x128_f8f6f4 v[4:7], v[20:{}], v[40:{}], 0, v16, v17 op_sel_hi:[0,0,0] "
                      "cbsz:{} blgp:{}",
                      19 + a.registers, 39 + b.registers, a.code, b.code),
          a.ones, b.ones, scales);
      INFO("formats " << a.code << " and " << b.code);
      REQUIRE(got == 128 * 2 * 4);
    }
}

TEST_CASE("public fault: packed bf16 and f16 atomics are two independent 16-bit additions") {
  struct Case {
    const char* name;
    std::uint32_t memory, data, sum;
  };
  // The low sums overflow, change sign or carry: nothing of that may reach the high half.
  const Case cases[] = {
      {"pk_add_f16", 0x3c007bff, 0x3c007bff, 0x40007c00},  {"pk_add_f16", 0x40003c00, 0x3c00bc00, 0x42000000},
      {"pk_add_f16", 0x0000ffff, 0x00000001, 0x0000ffff},  {"pk_add_bf16", 0x3f807f7f, 0x3f807f7f, 0x40007f80},
      {"pk_add_bf16", 0x3f80bf80, 0x3f803f80, 0x40000000}, {"pk_add_bf16", 0x40004380, 0x40003f80, 0x40804380},
  };
  for (const Case& c : cases) {
    for (const std::string form : {"global_atomic_{} v30, v8, s[4:5]", "buffer_atomic_{} v8, v30, s[8:11], 0 offen",
                                   "flat_atomic_{} v[2:3], v8", "ds_{} v30, v8"}) {
      const bool in_lds = form.starts_with("ds");
      const auto got =
          run_lanes({.body = fmt::format("v_mov_b32 v8, {:#x}\n ds_write_b32 v30, v30\n v_mov_b32 v9, {:#x}\n"
                                         "ds_write_b32 v30, v9\n s_waitcnt lgkmcnt(0)\n {}\n"
                                         "s_waitcnt vmcnt(0)\n ds_read_b32 v4, v30",
                                         c.data, c.memory, fmt::format(fmt::runtime(form), c.name)),
                     .data = std::vector<std::uint32_t>(1024, c.memory),
                     .exec = 1,
                     .lds_bytes = 64});
      INFO(form << " " << c.name << std::hex << " " << c.memory << " + " << c.data);
      REQUIRE((in_lds ? got.at(0) : got.memory[0]) == c.sum);
    }
  }
}

TEST_CASE("public fault: MODE's rounding reaches the arithmetic that it should and no other") {
  // 1 + 2^-24 and 1 + 3 * 2^-25, in each of the four modes: nearest even, up, down, towards zero.
  const std::array<std::uint32_t, 4> third = {0x3f800001, 0x3f800001, 0x3f800000, 0x3f800000};
  const std::array<std::uint32_t, 4> tie = {0x3f800000, 0x3f800001, 0x3f800000, 0x3f800000};
  for (std::uint32_t mode = 0; mode < 4; ++mode) {
    const auto got = run_lanes({.body = fmt::format(R"(
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), {}
  v_mov_b32 v8, 1.0
  v_mov_b32 v9, 0x33800000
  v_mov_b32 v10, 0x33c00000
  v_add_f32 v4, v8, v9
  v_fma_f32 v5, v8, v10, v8
  ds_write_b32 v30, v8
  ds_add_f32 v30, v10
  ds_read_b32 v6, v30
)",
                                                    mode | mode << 2),
                                .exec = 1,
                                .lds_bytes = 64});
    INFO("mode " << mode);
    CHECK(got.at(0, 0) == tie[mode]);
    CHECK(got.at(0, 1) == third[mode]);
    CHECK(got.at(0, 2) == third[0]);
  }
}

TEST_CASE("public fault: the matrix core rounds to nearest and keeps denormals whatever MODE says") {
  // C = 1, one product 3 * 2^-25, and one of 2^-140 with C = 0.
  for (const std::uint32_t mode : {0x00u, 0x0fu, 0xf0u, 0xffu}) {
    const auto run = [&](std::uint32_t a, std::uint32_t b, const char* c) {
      return run_lanes({.body = fmt::format(
                            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), {:#x}\n"
                            "v_mov_b32 v8, 0\n v_mov_b32 v9, 0\n v_mov_b32 v10, 0\n v_mov_b32 v11, 0\n"
                            "v_cmp_gt_u32 vcc, 16, v0\n v_mov_b32 v12, {:#x}\n v_cndmask_b32 v8, v8, v12, vcc\n"
                            "v_mov_b32 v12, {:#x}\n v_cndmask_b32 v10, v10, v12, vcc\n"
                            "v_mfma_f32_16x16x16_bf16 v[4:7], v[8:9], v[10:11], {}\n s_nop 15",
                            mode, a, b, c)})
          .at(0);
    };
    INFO("mode " << mode);
    CHECK(run(0x3f80, 0x33c0, "1.0") == 0x3f800001);
    CHECK(run(0x1c80, 0x1c80, "0") == 0x00000200);  // 2^-70 squared
  }
}

TEST_CASE("public fault: buffer bounds hold for each dword of a wide access, and for atomics as a whole") {
  const auto words = counting_words();
  for (std::uint32_t records = 0; records <= 20; ++records) {
    const auto got =
        run_lanes({.body = "buffer_load_dwordx3 v[4:6], v30, s[8:11], 4 offen", .data = words, .records = records});
    for (std::uint32_t i = 0; i < 3; ++i) {
      INFO("num_records " << records << " dword " << i);
      REQUIRE(got.at(0, i) == (4 + 4 * i + 4 <= records ? words[1 + i] : 0));
    }
    const auto atomic = run_lanes({.body = "v_mov_b32 v8, 1\n v_mov_b32 v9, 0\n"
                                           "buffer_atomic_add_x2 v[8:9], v30, s[8:11], 0 offen",
                                   .data = words,
                                   .records = records,
                                   .exec = 1});
    REQUIRE(atomic.memory[0] == (records >= 8 ? 1001 : 1000));
  }
}

TEST_CASE("public fault: architectural and accumulation registers together decide how many waves fit") {
  struct Case {
    std::uint32_t vgprs, agprs, waves_per_simd;
  };
  // 512 registers a lane and SIMD in steps of 8; at most 8 waves.
  const Case cases[] = {{64, 0, 8},  {65, 0, 7},  {128, 0, 4},   {128, 128, 2},
                        {120, 8, 4}, {124, 8, 3}, {256, 256, 1}, {32, 32, 8}};
  for (const Case& c : cases) {
    Device device;
    const Kernel& kernel = device.load(assemble({.body = "", .vgprs = c.vgprs, .agprs = c.agprs}), "kernel");
    KernelDescriptor descriptor = kernel.descriptor;
    descriptor.sgprs = 32;  // so that scalar registers are not what limits
    const Residency fits = residency(descriptor, 256, 0, kMi355x);
    INFO(c.vgprs << " VGPRs and " << c.agprs << " AGPRs");
    CHECK(fits.workgroups_per_cu == c.waves_per_simd);
  }
}

TEST_CASE("public fault: an MI300X has 304 compute units, an MI355X 256") {
  CHECK(kMi300x.compute_units == 304);
  CHECK(kMi355x.compute_units == 256);
  // As a persistent grid meets it: one workgroup with all the LDS on each compute unit, and no more.
  for (const ChipLimits& chip : {kMi300x, kMi355x}) {
    Settings settings;
    settings.chip = chip;
    Device device(settings);
    const KernelText text{.body = "", .lds_bytes = chip.lds_bytes};
    device.run(text, {.grid = {chip.compute_units, 1, 1}, .cooperative = true}, {});
    CHECK_THROWS_AS(device.run(text, {.grid = {chip.compute_units + 1, 1, 1}, .cooperative = true}, {}), Failure);
  }
}

}  // namespace
}  // namespace monojit::emulator::test
