// LDS atomics: every operation against its definition, denormals by MODE, NaN and zero rules, two-address forms.
#include <bit>
#include <functional>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>

#include "tests/emulator/lane_program.h"

namespace monojit::emulator::test {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr std::uint32_t kModeRoundTowardsZero = 0xf;

/// One lane's view: memory before, two data operands; gives memory after.
template <class T>
using Definition = std::function<T(T, T, T)>;

template <class T>
struct AtomicCase {
  const char* name;  ///< without ds_ and the type suffix
  const char* suffix;
  bool two_operands;
  Definition<T> after;
};

template <class T>
std::vector<T> edge_values() {
  std::vector<T> values = {0, 1, 2, 3, static_cast<T>(~T{0}), static_cast<T>(~T{0} - 1)};
  const T top = T{1} << (sizeof(T) * 8 - 1);
  values.insert(values.end(), {top, static_cast<T>(top - 1), static_cast<T>(top + 1), 0x1234567});
  return values;
}

/// Each lane works on its own element, with all combinations of edge values over the lanes; with and without return.
template <class T>
void check(const AtomicCase<T>& what) {
  const auto values = edge_values<T>();
  const std::uint32_t words = sizeof(T) / 4;
  const std::string data = words == 1 ? "v10" : "v[10:11]", second = words == 1 ? "v12" : "v[12:13]";
  for (std::size_t turn = 0; turn < 4; ++turn) {
    const auto value = [&](std::size_t lane, std::size_t which) {
      const std::size_t pick = lane * 7 + turn * 13 + which * (3 + lane / 5);
      return values[pick % values.size()];
    };
    std::vector<std::uint32_t> input(1024);
    for (std::size_t lane = 0; lane < 64; ++lane) {
      const T three[4] = {value(lane, 0), value(lane, 1), value(lane, 2), 0};
      std::memcpy(&input[8 * lane], three, sizeof(T) * 3);
    }
    const std::string operands = what.two_operands ? data + ", " + second : data;
    for (const bool returns : {false, true}) {
      const std::string text = returns ? fmt::format("ds_{}_rtn_{} {}, v1, {} offset:2056", what.name, what.suffix,
                                                     words == 1 ? "v6" : "v[6:7]", operands)
                                       : fmt::format("ds_{}_{} v1, {} offset:2056", what.name, what.suffix, operands);
      const std::string wide = words == 1 ? "" : "x2";
      const auto got =
          run_lanes({.body = fmt::format(
                         "global_load_dword{0} {1}, v1, s[4:5]\n global_load_dword{0} {2}, v1, s[4:5] offset:{4}\n"
                         "global_load_dword{0} {3}, v1, s[4:5] offset:{5}\n s_waitcnt vmcnt(0)\n"
                         "ds_write_b{6} v1, {1} offset:2056\n v_mov_b32 v6, 0\n v_mov_b32 v7, 0\n {7}\n"
                         "ds_read_b{6} {1}, v1 offset:2056",
                         wide, words == 1 ? "v4" : "v[4:5]", data, second, sizeof(T), 2 * sizeof(T), 32 * words, text),
                     .data = input,
                     .pitch = 32,
                     .lds_bytes = 8192});
      for (std::uint32_t lane = 0; lane < 64; ++lane) {
        const T old = value(lane, 0);
        const T after = what.after(old, value(lane, 1), value(lane, 2));
        T memory, result;
        std::memcpy(&memory, &got.words[4 * lane], sizeof memory);
        std::memcpy(&result, &got.words[4 * lane + 2], sizeof result);
        INFO(text << " lane " << lane << std::hex << ": memory " << old << ", data " << value(lane, 1) << ", "
                  << value(lane, 2) << " gave " << memory);
        REQUIRE(memory == after);
        REQUIRE(result == (returns ? old : T{0}));
      }
    }
  }
}

template <class T, class S>
void check_all(const char* u, const char* i, const char* b) {
  const AtomicCase<T> cases[] = {
      {"add", u, false, [](T m, T d, T) { return static_cast<T>(m + d); }},
      {"sub", u, false, [](T m, T d, T) { return static_cast<T>(m - d); }},
      {"rsub", u, false, [](T m, T d, T) { return static_cast<T>(d - m); }},
      {"inc", u, false, [](T m, T d, T) { return m >= d ? T{0} : static_cast<T>(m + 1); }},
      {"dec", u, false, [](T m, T d, T) { return m == 0 || m > d ? d : static_cast<T>(m - 1); }},
      {"min", i, false, [](T m, T d, T) { return static_cast<T>(std::min(static_cast<S>(m), static_cast<S>(d))); }},
      {"max", i, false, [](T m, T d, T) { return static_cast<T>(std::max(static_cast<S>(m), static_cast<S>(d))); }},
      {"min", u, false, [](T m, T d, T) { return std::min(m, d); }},
      {"max", u, false, [](T m, T d, T) { return std::max(m, d); }},
      {"and", b, false, [](T m, T d, T) { return m & d; }},
      {"or", b, false, [](T m, T d, T) { return m | d; }},
      {"xor", b, false, [](T m, T d, T) { return m ^ d; }},
      {"mskor", b, true, [](T m, T mask, T d) { return (m & ~mask) | d; }},
      {"cmpst", b, true, [](T m, T compare, T d) { return m == compare ? d : m; }},
  };
  for (const AtomicCase<T>& what : cases) check(what);
}

TEST_CASE("integer LDS atomics of 32 and 64 bits follow their definitions, with and without return") {
  check_all<std::uint32_t, std::int32_t>("u32", "i32", "b32");
  check_all<std::uint64_t, std::int64_t>("u64", "i64", "b64");
}

/// Runs one atomic in lane 0: memory and the operands in v10, v12 (or pairs); returns memory afterwards.
std::uint64_t run_one(const std::string& text, std::uint64_t memory, std::uint64_t data, std::uint64_t second = 0,
                      std::uint32_t mode = 0xf0) {
  const auto half = [](std::uint64_t value, int index) { return static_cast<std::uint32_t>(value >> (32 * index)); };
  const auto got = run_lanes({.body = fmt::format("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), {:#x}\n"
                                                  "v_mov_b32 v4, {:#x}\n v_mov_b32 v5, {:#x}\n"
                                                  "v_mov_b32 v10, {:#x}\n v_mov_b32 v11, {:#x}\n"
                                                  "v_mov_b32 v12, {:#x}\n v_mov_b32 v13, {:#x}\n"
                                                  "ds_write_b64 v30, v[4:5]\n {}\n ds_read_b64 v[4:5], v30",
                                                  mode, half(memory, 0), half(memory, 1), half(data, 0), half(data, 1),
                                                  half(second, 0), half(second, 1), text),
                              .exec = 1,
                              .lds_bytes = 64});
  return std::uint64_t{got.at(0, 0)} | std::uint64_t{got.at(0, 1)} << 32;
}

std::uint32_t f32(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint64_t f64(double value) { return std::bit_cast<std::uint64_t>(value); }

constexpr std::uint32_t kKeep = 0xf0, kFlush = 0x00, kKeepInputs = 0x50;

TEST_CASE("LDS float additions round to nearest whatever MODE says, and quieten NaNs") {
  const float big = 16777216.0f;
  for (const std::uint32_t mode : {kKeep, kKeep | kModeRoundTowardsZero}) {
    CHECK(run_one("ds_add_f32 v30, v10", f32(big), f32(3.0f), 0, mode) == f32(16777220.0f));
    CHECK(run_one("ds_add_f64 v30, v[10:11]", f64(0x1p53), f64(3.0), 0, mode) == f64(0x1p53 + 4));
    CHECK(run_one("ds_pk_add_f16 v30, v10", 0x6800'6800, 0x4200'3c00, 0, mode) == 0x6802'6800);   // 2048 + {1, 3}
    CHECK(run_one("ds_pk_add_bf16 v30, v10", 0x4380'4380, 0x4040'3f80, 0, mode) == 0x4382'4380);  // 256 + {1, 3}
  }
  CHECK(run_one("ds_add_f32 v30, v10", 0x7f812345, 0xffc00001) == 0x7fc12345);
  CHECK(run_one("ds_add_f32 v30, v10", f32(1), 0x7f812345) == 0x7fc12345);
  CHECK(run_one("ds_add_f32 v30, v10", 0x7f800000, 0xff800000) == 0x7fc00000);
  CHECK(run_one("ds_add_f32 v30, v10", 0x80000000, 0) == 0);
  CHECK(run_one("ds_add_f32 v30, v10", 0x80000000, 0x80000000) == 0x80000000);
}

TEST_CASE("MODE decides whether LDS float atomics keep denormals, but not for f64 additions") {
  const std::uint32_t denormal = 0x00400000, least = 0x00800000;
  CHECK(run_one("ds_add_f32 v30, v10", denormal, denormal, 0, kKeep) == least);
  CHECK(run_one("ds_add_f32 v30, v10", denormal, denormal, 0, kFlush) == 0);
  CHECK(run_one("ds_add_f32 v30, v10", least, 0x80c00000, 0, kKeep) == 0x80400000);
  CHECK(run_one("ds_add_f32 v30, v10", least, 0x80c00000, 0, kKeepInputs) == 0x80000000);
  CHECK(run_one("ds_add_f64 v30, v[10:11]", 1, 1, 0, kFlush) == 2);
  CHECK(run_one("ds_pk_add_f16 v30, v10", 0x0200'0200, 0x0200'0001, 0, kKeep) == 0x0400'0201);
  CHECK(run_one("ds_pk_add_f16 v30, v10", 0x0200'0200, 0x3c00'0001, 0, kFlush) == 0x3c00'0000);
  CHECK(run_one("ds_pk_add_bf16 v30, v10", 0x0040'0040, 0x0040'3f80, 0, kFlush) == 0x0000'3f80);
  // The comparison of min and max sees zeros, the result is one of the two as it was.
  CHECK(run_one("ds_max_f32 v30, v10", 0x00000001, 0x00000002, 0, kKeep) == 2);
  CHECK(run_one("ds_max_f32 v30, v10", 0x00000001, 0x00000002, 0, kFlush) == 1);
  CHECK(run_one("ds_min_f64 v30, v[10:11]", 2, 1, 0, kKeep) == 1);
  CHECK(run_one("ds_min_f64 v30, v[10:11]", 2, 1, 0, kFlush) == 2);
}

TEST_CASE("LDS minimum and maximum order zeros, prefer numbers to quiet NaNs and pass on signalling ones") {
  constexpr std::uint32_t kQuiet = 0x7fc00001, kSignalling = 0x7f800001, kMinusZero = 0x80000000;
  for (const bool largest : {false, true}) {
    const auto run = [&](std::uint32_t memory, std::uint32_t data) {
      return run_one(largest ? "ds_max_f32 v30, v10" : "ds_min_f32 v30, v10", memory, data);
    };
    CHECK(run(kQuiet, f32(2)) == f32(2));
    CHECK(run(f32(2), kQuiet) == f32(2));
    CHECK(run(kSignalling, f32(2)) == 0x7fc00001);
    CHECK(run(f32(2), kSignalling) == 0x7fc00001);
    CHECK(run(0, kMinusZero) == (largest ? 0 : kMinusZero));
    CHECK(run(kMinusZero, 0) == (largest ? 0 : kMinusZero));
    CHECK(run(f32(-3), f32(2)) == (largest ? f32(2) : f32(-3)));
    CHECK(run(0xff800000, f32(-3)) == (largest ? f32(-3) : 0xff800000));
  }
  CHECK(run_one("ds_max_rtn_f64 v[6:7], v30, v[10:11]", f64(-1), f64(-2)) == f64(-1));
}

TEST_CASE("float compare-and-store compares numbers: zeros are equal, NaNs are not") {
  const auto run = [](std::uint32_t memory, std::uint32_t compare, std::uint32_t data, std::uint32_t mode = kKeep) {
    return run_one("ds_cmpst_f32 v30, v10, v12", memory, compare, data, mode);
  };
  CHECK(run(0, 0x80000000, f32(5)) == f32(5));
  CHECK(run(0x7fc00000, 0x7fc00000, f32(5)) == 0x7fc00000);
  CHECK(run(f32(1), f32(1), f32(5)) == f32(5));
  CHECK(run(f32(1), f32(2), f32(5)) == f32(1));
  CHECK(run(1, 2, f32(5)) == 1);
  CHECK(run(1, 2, f32(5), kFlush) == f32(5));
  CHECK(run_one("ds_cmpst_rtn_f64 v[6:7], v30, v[10:11], v[12:13]", f64(0.0), f64(-0.0), f64(7)) == f64(7));
}

TEST_CASE("wrap, exchanges of two places, conditional exchanges and counters") {
  CHECK(run_one("ds_wrap_rtn_b32 v6, v30, v10, v12", 10, 4, 100) == 6);
  CHECK(run_one("ds_wrap_rtn_b32 v6, v30, v10, v12", 3, 4, 100) == 103);
  CHECK(run_one("ds_condxchg32_rtn_b64 v[6:7], v30, v[10:11]", 0x1111111122222222, 0x8000000500000006) ==
        0x0000000522222222);
  CHECK(run_one("ds_condxchg32_rtn_b64 v[6:7], v30, v[10:11]", 0x1111111122222222, 0x0000000580000006) ==
        0x1111111100000006);
  const auto pair = run_lanes({.body = "v_lshlrev_b32 v1, 3, v0\n v_mov_b32 v8, 100\n v_mov_b32 v9, 200\n"
                                       "ds_write_b64 v1, v[8:9]\n v_mov_b32 v8, 1\n v_mov_b32 v5, 2\n"
                                       "ds_wrxchg2_rtn_b32 v[4:5], v1, v8, v5 offset0:0 offset1:1\n"
                                       "ds_read_b64 v[6:7], v1",
                               .lds_bytes = 512});
  for (std::uint32_t lane = 0; lane < 64; ++lane) {
    // The second operand is a result register too: it was read before.
    REQUIRE(pair.at(lane, 0) == 100);
    REQUIRE(pair.at(lane, 1) == 200);
    REQUIRE(pair.at(lane, 2) == 1);
    REQUIRE(pair.at(lane, 3) == 2);
  }
  const auto far = run_lanes({.body = "v_lshlrev_b32 v1, 3, v0\n v_mov_b32 v8, 7\n v_mov_b32 v9, 0\n"
                                      "ds_write_b64 v1, v[8:9] offset:512\n"
                                      "ds_wrxchg2st64_rtn_b64 v[4:7], v1, v[8:9], v[30:31] offset0:0 offset1:1\n"
                                      "ds_read_b64 v[6:7], v1",
                              .lds_bytes = 1024});
  for (std::uint32_t lane = 0; lane < 64; ++lane) REQUIRE(far.at(lane, 2) == 7);
  const auto counted =
      run_lanes({.body = "ds_write_b32 v30, v30 offset:16\n s_mov_b32 m0, 8\n ds_append v4 offset:8\n"
                         "ds_append v5 offset:8\n ds_consume v6 offset:8\n ds_read_b32 v7, v30 offset:16",
                 .exec = 0xff0,
                 .lds_bytes = 64});
  CHECK(counted.at(4, 0) == 0);
  CHECK(counted.at(4, 1) == 8);
  CHECK(counted.at(4, 2) == 16);
  CHECK(counted.at(4, 3) == 8);
  CHECK(counted.at(3, 0) == kUntouched);
}

TEST_CASE("reads and writes that take the lane number as their address") {
  const auto got = run_lanes({.body = "s_mov_b32 m0, 8\n v_add_u32 v8, 0x100, v0\n ds_write_addtid_b32 v8 offset:24\n"
                                      "ds_read_addtid_b32 v4 offset:24\n v_lshlrev_b32 v1, 2, v0\n"
                                      "ds_read_b32 v5, v1 offset:32",
                              .exec = 0xfff0,
                              .lds_bytes = 512});
  for (std::uint32_t lane = 4; lane < 16; ++lane) {
    REQUIRE(got.at(lane, 0) == 0x100 + lane);
    REQUIRE(got.at(lane, 1) == 0x100 + lane);
  }
  CHECK(got.at(16) == kUntouched);
}

TEST_CASE("LDS atomics must be aligned; loads and stores only under the strict rule") {
  CHECK_THAT(failure_text({.body = "v_mov_b32 v1, 6\n ds_add_u32 v1, v0", .lds_bytes = 64}),
             ContainsSubstring("misaligned atomic operation of 4 bytes at LDS address 0x6 by lane 0: the address must "
                               "be a multiple of 4"));
  LaneProgram program{
      .body = "v_lshlrev_b32 v1, 2, v0\n ds_write_b32 v1, v0\n v_mov_b32 v1, 4\n ds_read_b64 v[4:5], v1",
      .lds_bytes = 256};
  CHECK(run_lanes(program).at(7, 1) == 2);
  program.settings.strict_alignment = true;
  CHECK_THAT(failure_text(program), ContainsSubstring("misaligned load of 8 bytes at LDS address 0x4 by lane 0: the "
                                                      "address must be a multiple of 8"));
  program.body = "v_mov_b32 v1, 8\n ds_read_b96 v[4:6], v1";
  CHECK_THAT(failure_text(program), ContainsSubstring("must be a multiple of 16"));
  program.body = "v_mov_b32 v1, 8\n ds_read_b64 v[4:5], v1";
  CHECK(failure_text(program) == "nothing failed");
  program.settings.strict_alignment = false;
  program.body = "v_mov_b32 v1, 4\n ds_read_b64_tr_b16 v[4:5], v1";
  CHECK_THAT(failure_text(program), ContainsSubstring("must be a multiple of 8"));
}

}  // namespace
}  // namespace monojit::emulator::test
