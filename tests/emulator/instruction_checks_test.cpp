// Mistakes that a chip does not tell: each check finds its own, names both instructions, and leaves right code alone.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

using Catch::Matchers::ContainsSubstring;

Settings checking(bool Checks::* check, const ChipLimits& chip = kMi355x) {
  Settings settings{.chip = chip};
  settings.checks.*check = true;
  return settings;
}

/// Runs one wave; a0 is a buffer of 256 words. The failure's text, or "" if all went well.
std::string outcome(const Settings& settings, const std::string& body, bool written = true) {
  Device device(settings);
  const auto buffer = written ? device.upload(std::vector<std::uint32_t>(256)) : device.allocate<std::uint32_t>(256);
  try {
    device.run({.name = "checked", .body = body, .agprs = 64, .lds_bytes = 4096}, {}, {buffer.address()});
  } catch (const Failure& failure) {
    CHECK(failure.kind() == FailureKind::kCheckFailed);
    return failure.what();
  }
  return "";
}

const std::string kBegin = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
)";

TEST_CASE("a scalar load's result may be read after lgkmcnt(0) only") {
  const Settings settings = checking(&Checks::waits);
  const std::string text = outcome(settings, "s_load_dwordx2 s[4:5], s[0:1], 0x0\n v_mov_b32 v1, s4");
  CHECK_THAT(text, ContainsSubstring("reads s4, whose value is still on its way: no s_waitcnt lgkmcnt"));
  CHECK_THAT(text, ContainsSubstring("s_load_dwordx2 s[4:5]"));
  CHECK_THAT(text, ContainsSubstring("v_mov_b32_e32 v1, s4"));
  CHECK(outcome(settings, kBegin + "v_mov_b32 v1, s4").empty());
  // Scalar loads return in any order: only the count of zero tells anything.
  CHECK_THAT(outcome(settings,
                     "s_load_dword s4, s[0:1], 0x0\n s_load_dword s5, s[0:1], 0x4\n s_waitcnt lgkmcnt(1)\n"
                     "s_add_u32 s4, s4, 1"),
             ContainsSubstring("reads s4"));
}

TEST_CASE("vector loads come in the order of issue, and vmcnt says how many are left") {
  const Settings settings = checking(&Checks::waits);
  const std::string loads = kBegin + "global_load_dword v2, v1, s[4:5]\n global_load_dword v3, v1, s[4:5] offset:4\n";
  CHECK_THAT(outcome(settings, loads + "v_add_u32 v4, v2, v2"), ContainsSubstring("reads v2"));
  CHECK(outcome(settings, loads + "s_waitcnt vmcnt(1)\n v_add_u32 v4, v2, v2").empty());
  CHECK_THAT(outcome(settings, loads + "s_waitcnt vmcnt(1)\n v_add_u32 v4, v3, v3"),
             ContainsSubstring("no s_waitcnt vmcnt"));
  CHECK(outcome(settings, loads + "s_waitcnt vmcnt(0)\n v_add_u32 v4, v2, v3").empty());
  CHECK_THAT(outcome(settings, loads + "v_mov_b32 v3, 0"), ContainsSubstring("writes v3"));
  // A later load of the same kind can't come first.
  CHECK(outcome(settings, loads + "global_load_dword v3, v1, s[4:5]").empty());
  // Stores count too.
  CHECK(outcome(settings, loads + "global_store_dword v1, v1, s[4:5]\n s_waitcnt vmcnt(1)\n v_add_u32 v4, v2, v3")
            .empty());
}

TEST_CASE("LDS results come in order, whatever vector memory does") {
  const Settings settings = checking(&Checks::waits);
  const std::string reads = "v_lshlrev_b32 v1, 2, v0\n ds_write_b32 v1, v0\n ds_read_b32 v2, v1\n ds_read_b32 v3, v1\n";
  CHECK(outcome(settings, reads + "s_waitcnt lgkmcnt(1)\n v_mov_b32 v4, v2").empty());
  CHECK_THAT(outcome(settings, reads + "s_waitcnt lgkmcnt(1)\n v_mov_b32 v4, v3"), ContainsSubstring("reads v3"));
  CHECK_THAT(outcome(settings, reads + "s_waitcnt vmcnt(0)\n v_mov_b32 v4, v2"), ContainsSubstring("reads v2"));
}

/// Wait states that a vector instruction needs behind an MFMA whose result it reads (LLVM's hazard recogniser).
struct MatrixCase {
  const char* text;
  u32 gfx942;
  u32 gfx950;
};
constexpr MatrixCase kMatrixCases[] = {
    {"v_mfma_f32_4x4x4_16b_f16 v[8:11], v[2:3], v[4:5], 0", 5, 5},
    {"v_mfma_f32_16x16x16_bf16 v[8:11], v[2:3], v[4:5], 0", 7, 8},
    {"v_mfma_f32_32x32x8_f16 v[8:23], v[2:3], v[4:5], 0", 11, 12},
    {"v_mfma_f32_32x32x4_2b_f16 v[8:39], v[2:3], v[4:5], 0", 19, 20},
    {"v_mfma_f32_16x16x4_f32 v[8:11], v2, v4, 0", 10, 10},
    {"v_mfma_f64_4x4x4_4b_f64 v[8:9], v[2:3], v[4:5], 0", 6, 6},
};

std::string wait_states(u32 count) {
  std::string text;
  for (; count > 0; count -= std::min(count, 8u)) text += fmt::format("s_nop {}\n", std::min(count, 8u) - 1);
  return text;
}

TEST_CASE("a vector instruction reads an MFMA's result only so many wait states later") {
  for (const ChipLimits& chip : {kMi300x, kMi355x}) {
    const Settings settings = checking(&Checks::hazards, chip);
    for (const MatrixCase& matrix : kMatrixCases) {
      INFO(chip.arch << ": " << matrix.text);
      const u32 needed = chip.chip == Chip::kGfx950 ? matrix.gfx950 : matrix.gfx942;
      const std::string before = fmt::format("{}\n", matrix.text);
      CHECK(outcome(settings, before + wait_states(needed) + "v_mov_b32 v40, v8").empty());
      const std::string text = outcome(settings, before + wait_states(needed - 1) + "v_mov_b32 v40, v8");
      CHECK_THAT(text, ContainsSubstring(fmt::format("reads an MFMA's v8 after {} wait states, where {} are needed",
                                                     needed - 1, needed)));
      CHECK_THAT(text, ContainsSubstring(std::string(matrix.text).substr(0, 20)));
    }
  }
}

TEST_CASE("MFMAs forward a whole accumulator, but not a part of it, nor to A and B") {
  const Settings settings = checking(&Checks::hazards);
  const std::string first = "v_mfma_f32_16x16x16_bf16 v[8:11], v[2:3], v[4:5], 0\n";
  CHECK(outcome(settings, first + "v_mfma_f32_16x16x16_bf16 v[8:11], v[2:3], v[4:5], v[8:11]").empty());
  CHECK_THAT(outcome(settings, first + "v_mfma_f32_16x16x16_bf16 v[12:15], v[8:9], v[4:5], 0"),
             ContainsSubstring("an MFMA reads another's v8 after 0 wait states, where 8 are needed"));
  CHECK_THAT(outcome(settings, first + "v_mfma_f32_16x16x16_bf16 v[12:15], v[2:3], v[4:5], v[10:13]"),
             ContainsSubstring("an MFMA reads another's v10"));
  CHECK_THAT(outcome(settings, "v_mov_b32 v2, 0\n" + first),
             ContainsSubstring("an MFMA reads a vector instruction's v2"));
  CHECK(outcome(settings, "v_mov_b32 v2, 0\n s_nop 1\n" + first).empty());
}

TEST_CASE("addresses and stored values must not depend on registers never written") {
  const Settings settings = checking(&Checks::registers);
  CHECK_THAT(outcome(settings, kBegin + "global_store_dword v1, v9, s[4:5]"),
             ContainsSubstring("reads v9 of lane 0, which depends on a register that was never written"));
  CHECK_THAT(
      outcome(settings, kBegin + "v_add_u32 v8, v9, v1\n v_mul_lo_u32 v7, v8, v8\n global_store_dword v1, v7, s[4:5]"),
      ContainsSubstring("reads v7"));
  CHECK(outcome(settings, kBegin + "v_mov_b32 v9, 1\n global_store_dword v1, v9, s[4:5]").empty());
  const std::string half = kBegin + "s_mov_b64 exec, 0xff\n v_mov_b32 v9, 1\n";
  CHECK(outcome(settings, half + "global_store_dword v1, v9, s[4:5]").empty());
  CHECK_THAT(outcome(settings, half + "s_mov_b64 exec, -1\n global_store_dword v1, v9, s[4:5]"),
             ContainsSubstring("reads v9 of lane 8"));
  CHECK_THAT(outcome(settings, "s_load_dword s4, s[20:21], 0x0"),
             ContainsSubstring("reads s[20:21], which was never written"));
}

TEST_CASE("the low word of a 64-bit multiply-add does not depend on its addend's high word") {
  const Settings settings = checking(&Checks::registers);
  const std::string product = kBegin + "v_mov_b32 v8, 1\n v_mad_u64_u32 v[6:7], s[10:11], v1, v1, v[8:9]\n";
  CHECK(outcome(settings, product + "global_store_dword v1, v6, s[4:5]").empty());
  CHECK_THAT(outcome(settings, product + "global_store_dword v1, v7, s[4:5]"), ContainsSubstring("reads v7"));
  CHECK_THAT(outcome(settings, kBegin + "v_mov_b32 v9, 1\n v_mad_u64_u32 v[6:7], s[10:11], v1, v1, v[8:9]\n"
                                        "global_store_dword v1, v6, s[4:5]"),
             ContainsSubstring("reads v6"));
}

TEST_CASE("memory that nobody wrote must not be loaded") {
  const Settings settings = checking(&Checks::memory);
  const std::string load = kBegin + "global_load_dword v2, v1, s[4:5]";
  CHECK(outcome(settings, load).empty());
  const std::string text = outcome(settings, load, false);
  CHECK_THAT(text, ContainsSubstring("load of memory that was never written"));
  CHECK_THAT(text, ContainsSubstring("by lane 0: inside allocation"));
  CHECK(outcome(settings,
                kBegin + "global_store_dword v1, v0, s[4:5]\n s_waitcnt vmcnt(0)\n global_load_dword v2, v1, s[4:5]",
                false)
            .empty());
  CHECK_THAT(outcome(settings, kBegin + "s_load_dword s6, s[4:5], 0x0", false), ContainsSubstring("never written"));
}

TEST_CASE("an MFMA must run under a full EXEC") {
  const Settings settings = checking(&Checks::exec);
  const std::string matrix = "v_mfma_f32_16x16x16_bf16 v[8:11], v[2:3], v[4:5], 0\n";
  CHECK(outcome(settings, matrix).empty());
  CHECK_THAT(outcome(settings, "s_mov_b64 exec, 1\n" + matrix),
             ContainsSubstring("an MFMA under EXEC 0x0000000000000001"));
}

TEST_CASE("a buffer descriptor must be one") {
  const Settings settings = checking(&Checks::buffers);
  const auto load_with = [&](u32 format) {
    return outcome(settings, kBegin + fmt::format("s_mov_b32 s6, 1024\n s_mov_b32 s7, {:#x}\n"
                                                  "buffer_load_dword v2, v1, s[4:7], 0 offen",
                                                  format));
  };
  CHECK(load_with(0x00027000).empty());
  CHECK_THAT(load_with(0), ContainsSubstring("data format 0"));
  CHECK_THAT(load_with(0xc0027000), ContainsSubstring("type 3"));
}

TEST_CASE("each check alone runs a kernel that reads much memory which no kernel has written") {
  constexpr std::size_t kWords = 1 << 18;
  for (bool Checks::* const check : {&Checks::waits, &Checks::hazards, &Checks::registers, &Checks::memory,
                                     &Checks::exec, &Checks::buffers, &Checks::races}) {
    Device device(checking(check));
    const auto buffer = device.upload(std::vector<std::uint32_t>(kWords, 7));
    const auto result = device.upload(std::vector<std::uint32_t>(64));
    device.run({.body = kBegin + R"(
  s_load_dwordx2 s[6:7], s[0:1], 0x8
  global_load_dword v2, v1, s[4:5] offset:1024
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dword v1, v2, s[6:7]
)"},
               {}, {buffer.address(), result.address()});
    CHECK(result[63] == 7);
  }
}

TEST_CASE("checks are chosen by name") {
  Checks checks;
  CHECK(parse_checks("waits,races", checks));
  CHECK((checks.waits && checks.races && !checks.hazards && !checks.memory));
  CHECK(parse_checks("all", checks));
  CHECK((checks.registers && checks.memory && checks.waits && checks.hazards && checks.exec && checks.buffers &&
         checks.races));
  CHECK(parse_checks("none", checks));
  CHECK_FALSE(checks.any());
  CHECK_FALSE(parse_checks("waits,race", checks));
  CHECK_FALSE(parse_checks("", checks));
  CHECK_FALSE(parse_checks("all,none", checks));
  CHECK_FALSE(parse_checks("none,waits", checks));
}

}  // namespace
}  // namespace monojit::emulator::test
