// Typed buffers: every data and number format against a definition written from the reference's tables.
#include <bit>
#include <cmath>
#include <cstring>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>

#include "tests/emulator/lane_program.h"

namespace monojit::emulator::test {
namespace {

using Catch::Matchers::ContainsSubstring;

enum Number { kUnorm, kSnorm, kUscaled, kSscaled, kUint, kSint, kFloat = 7 };

struct Data {
  std::uint32_t code;
  const char* name;
  std::vector<std::uint32_t> bits;  ///< from the lowest bits of memory up
};

const Data kFormats[] = {
    {1, "BUF_DATA_FORMAT_8", {8}},
    {2, "BUF_DATA_FORMAT_16", {16}},
    {3, "BUF_DATA_FORMAT_8_8", {8, 8}},
    {4, "BUF_DATA_FORMAT_32", {32}},
    {5, "BUF_DATA_FORMAT_16_16", {16, 16}},
    {6, "BUF_DATA_FORMAT_10_11_11", {11, 11, 10}},
    {7, "BUF_DATA_FORMAT_11_11_10", {10, 11, 11}},
    {8, "BUF_DATA_FORMAT_10_10_10_2", {2, 10, 10, 10}},
    {9, "BUF_DATA_FORMAT_2_10_10_10", {10, 10, 10, 2}},
    {10, "BUF_DATA_FORMAT_8_8_8_8", {8, 8, 8, 8}},
    {11, "BUF_DATA_FORMAT_32_32", {32, 32}},
    {12, "BUF_DATA_FORMAT_16_16_16_16", {16, 16, 16, 16}},
    {13, "BUF_DATA_FORMAT_32_32_32", {32, 32, 32}},
    {14, "BUF_DATA_FORMAT_32_32_32_32", {32, 32, 32, 32}},
};
const std::pair<Number, const char*> kNumbers[] = {
    {kUnorm, "BUF_NUM_FORMAT_UNORM"},     {kSnorm, "BUF_NUM_FORMAT_SNORM"}, {kUscaled, "BUF_NUM_FORMAT_USCALED"},
    {kSscaled, "BUF_NUM_FORMAT_SSCALED"}, {kUint, "BUF_NUM_FORMAT_UINT"},   {kSint, "BUF_NUM_FORMAT_SINT"},
    {kFloat, "BUF_NUM_FORMAT_FLOAT"}};

/// Which pairs table 9.1.11 of the reference has.
bool exists(const Data& data, Number number) {
  const std::uint32_t first = data.bits[0];
  if (first == 32) return number >= kUint;
  if (data.code == 6 || data.code == 7) return number == kFloat;
  return first == 16 || number != kFloat;
}

std::uint32_t bytes_of(const Data& data) {
  std::uint32_t bits = 0;
  for (const std::uint32_t part : data.bits) bits += part;
  return bits / 8;
}

std::uint32_t code_of(const std::uint8_t* element, const Data& data, std::uint32_t component) {
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i < component; ++i) first += data.bits[i];
  std::uint32_t code = 0;
  for (std::uint32_t i = 0; i < data.bits[component]; ++i)
    code |= (element[(first + i) / 8] >> (first + i) % 8 & 1u) << i;
  return code;
}

/// Five exponent bits with bias 15 and `mantissa` bits, with or without a sign.
double small_float(std::uint32_t code, std::uint32_t mantissa, bool has_sign) {
  const std::uint32_t exponent = code >> mantissa & 31;
  const double fraction = std::ldexp(code & ((1u << mantissa) - 1), -static_cast<int>(mantissa));
  const double sign = has_sign && (code >> (mantissa + 5) & 1) != 0 ? -1 : 1;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  return sign * (exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, static_cast<int>(exponent) - 15));
}

double value_of(std::uint32_t code, std::uint32_t bits, Number number) {
  const auto sign_extended = static_cast<std::int32_t>(code << (32 - bits)) >> (32 - bits);
  const double most = std::ldexp(1, static_cast<int>(bits)) - 1,
               most_signed = std::ldexp(1, static_cast<int>(bits) - 1) - 1;
  switch (number) {
    case kUnorm:
      return code / most;
    case kSnorm:
      return std::max(sign_extended / most_signed, -1.0);
    case kUscaled:
      return code;
    case kSscaled:
      return sign_extended;
    default:
      if (bits == 32) return std::bit_cast<float>(code);
      return bits == 16 ? small_float(code, 10, true) : small_float(code, bits - 5, false);
  }
}

/// What a register of 32 bits gets.
std::uint32_t register_of(std::uint32_t code, std::uint32_t bits, Number number) {
  if (number == kUint || bits == 32) return code;
  if (number == kSint) return static_cast<std::uint32_t>(static_cast<std::int32_t>(code << (32 - bits)) >> (32 - bits));
  return std::bit_cast<std::uint32_t>(static_cast<float>(value_of(code, bits, number)));
}

std::vector<std::uint32_t> mixed_words() {
  std::vector<std::uint32_t> words(1024);
  std::uint32_t state = 12345;
  for (std::size_t i = 0; i < words.size(); ++i) {
    state = state * 1664525 + 1013904223;
    words[i] = i < 8 ? (i % 2 == 0 ? 0u : ~0u) : i < 12 ? 0x80008000u : i < 16 ? 0x7fff7fffu : state;
  }
  return words;
}

bool equal_or_nan(std::uint32_t x, std::uint32_t y) {
  return x == y || (std::isnan(std::bit_cast<float>(x)) && std::isnan(std::bit_cast<float>(y)));
}

constexpr const char* kComponents[] = {"x", "xy", "xyz", "xyzw"};

TEST_CASE("typed loads convert every data and number format, and missing components are zero") {
  const auto words = mixed_words();
  const auto* const memory = reinterpret_cast<const std::uint8_t*>(words.data());
  std::size_t pairs = 0;
  for (const Data& data : kFormats) {
    for (const auto& [number, number_name] : kNumbers) {
      if (!exists(data, number)) continue;
      ++pairs;
      const std::uint32_t pitch = std::max(4u, bytes_of(data));
      const auto got =
          run_lanes({.body = fmt::format("tbuffer_load_format_xyzw v[4:7], v1, s[8:11], 0 format:[{},{}] offen",
                                         data.name, number_name),
                     .data = words,
                     .pitch = pitch});
      for (std::uint32_t lane = 0; lane < 64; ++lane)
        for (std::uint32_t i = 0; i < 4; ++i) {
          const std::uint32_t want =
              i < data.bits.size() ? register_of(code_of(memory + lane * pitch, data, i), data.bits[i], number) : 0;
          INFO(data.name << " " << number_name << " lane " << lane << " component " << i << std::hex << ": "
                         << got.at(lane, i) << ", expected " << want);
          REQUIRE(equal_or_nan(got.at(lane, i), want));
        }
    }
  }
  REQUIRE(pairs == 65);
}

TEST_CASE("what a typed store wrote, a typed load reads back") {
  const auto words = mixed_words();
  for (const Data& data : kFormats) {
    for (const auto& [number, number_name] : kNumbers) {
      if (!exists(data, number)) continue;
      const std::uint32_t pitch = std::max(4u, bytes_of(data));
      const std::string format = fmt::format("format:[{},{}] offen", data.name, number_name);
      const auto got = run_lanes({.body = fmt::format("tbuffer_load_format_xyzw v[4:7], v1, s[8:11], 0 {0}\n"
                                                      "s_waitcnt vmcnt(0)\n"
                                                      "v_add_u32 v1, 0x800, v1\n"
                                                      "tbuffer_store_format_xyzw v[4:7], v1, s[8:11], 0 {0}",
                                                      format),
                                  .data = words,
                                  .pitch = pitch});
      const auto* const before = reinterpret_cast<const std::uint8_t*>(words.data());
      const auto* const after = reinterpret_cast<const std::uint8_t*>(got.memory.data()) + 0x800;
      for (std::uint32_t lane = 0; lane < 64; ++lane)
        for (std::uint32_t i = 0; i < data.bits.size(); ++i) {
          // Codes of one value: a NaN's payload and the two lowest codes of snorm may change.
          const std::uint32_t x = code_of(before + lane * pitch, data, i), y = code_of(after + lane * pitch, data, i);
          const std::uint32_t bits = data.bits[i];
          INFO(data.name << " " << number_name << " lane " << lane << " component " << i << std::hex << ": " << x
                         << " became " << y);
          const bool integer = number == kUint || number == kSint;
          REQUIRE((x == y || (!integer && equal_or_nan(register_of(x, bits, number), register_of(y, bits, number)))));
        }
    }
  }
}

TEST_CASE("typed stores round to nearest, saturate, and ignore MODE's rounding") {
  struct Case {
    const char* format;
    float value;
    std::uint32_t code;
  };
  const Case cases[] = {
      {"BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_UNORM", 2.0f, 255},
      {"BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_UNORM", -1.0f, 0},
      {"BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_UNORM", 0.5f, 128},
      {"BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_SNORM", -3.0f, 0x81},
      {"BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_SNORM", NAN, 0},
      {"BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_USCALED", 254.6f, 255},
      {"BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_SSCALED", -200.0f, 0x80},
      {"BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_FLOAT", 65536.0f, 0x7c00},
      {"BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_FLOAT", 1.00048828125f, 0x3c00},
      {"BUF_DATA_FORMAT_11_11_10,BUF_NUM_FORMAT_FLOAT", -1.0f, 0},
      {"BUF_DATA_FORMAT_10_11_11,BUF_NUM_FORMAT_FLOAT", 1.0f, 15u << 6},
      {"BUF_DATA_FORMAT_10_11_11,BUF_NUM_FORMAT_FLOAT", 1e9f, 31u << 6},
  };
  for (const Case& c : cases) {
    for (const std::uint32_t mode : {0u, 0xfu}) {
      const auto got =
          run_lanes({.body = fmt::format("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), {}\n v_mov_b32 v8, {:#x}\n"
                                         "tbuffer_store_format_x v8, v1, s[8:11], 0 format:[{}] offen",
                                         mode, std::bit_cast<std::uint32_t>(c.value), c.format)});
      INFO(c.format << " " << c.value << " mode " << mode);
      REQUIRE(got.memory[5] == c.code);
    }
  }
}

TEST_CASE("format loads take format and component order from the descriptor") {
  std::vector<std::uint32_t> words(1024, 0x04030201);
  // 8_8_8_8 uint; x = A, y = 1, z = 0, w = R.
  const std::uint32_t flags = 7 | 1 << 3 | 0 << 6 | 4 << 9 | kUint << 12 | 10 << 15;
  const auto got =
      run_lanes({.body = "buffer_load_format_xyzw v[4:7], v1, s[8:11], 0 offen", .data = words, .flags = flags});
  CHECK(got.at(3, 0) == 4);
  CHECK(got.at(3, 1) == 1);
  CHECK(got.at(3, 2) == 0);
  CHECK(got.at(3, 3) == 1);
  const std::uint32_t normalised = 7 | 1 << 3 | 0 << 6 | 4 << 9 | kUnorm << 12 | 10 << 15;
  const auto beyond = run_lanes({.body = "buffer_load_format_xyzw v[4:7], v1, s[8:11], 0 offen",
                                 .data = words,
                                 .records = 6,
                                 .flags = normalised});
  // All or nothing: lane 1 has half its element inside. A component that is 1 by dst_sel stays 1.
  for (const std::uint32_t lane : {1u, 2u}) {
    CHECK(beyond.at(lane, 0) == 0);
    CHECK(beyond.at(lane, 1) == 0x3f800000);
    CHECK(beyond.at(lane, 3) == 0);
  }
  const auto stored = run_lanes({.body = "v_mov_b32 v8, 1\n v_mov_b32 v9, 2\n v_mov_b32 v10, 3\n v_mov_b32 v11, 4\n"
                                         "buffer_store_format_xyzw v[8:11], v1, s[8:11], 0 offen",
                                 .records = 250,
                                 .flags = 6 | 5 << 3 | 4 << 6 | 7 << 9 | kUint << 12 | 10 << 15});
  CHECK(stored.memory[61] == 0x04010203);
  CHECK(stored.memory[62] == 0);
}

TEST_CASE("d16 formats pack two components into a register") {
  std::vector<std::uint32_t> words(1024, 0xfe7f0180);
  const std::uint32_t identity = 4 | 5 << 3 | 6 << 6 | 7 << 9;
  const auto run = [&](const std::string& text, std::uint32_t format) {
    return run_lanes({.body = text, .data = words, .flags = identity | format});
  };
  const std::uint32_t bytes_sint = kSint << 12 | 10 << 15, halves = kFloat << 12 | 5 << 15;
  const auto all = run("buffer_load_format_d16_xyzw v[4:5], v1, s[8:11], 0 offen", bytes_sint);
  CHECK(all.at(9, 0) == 0x0001ff80);
  CHECK(all.at(9, 1) == 0xfffe007f);
  const auto three = run("buffer_load_format_d16_xyz v[4:5], v1, s[8:11], 0 offen", bytes_sint);
  CHECK(three.at(9, 1) == 0x0000007f);
  CHECK(run("buffer_load_format_d16_x v4, v1, s[8:11], 0 offen", bytes_sint).at(9) == 0x0000ff80);
  CHECK(run("buffer_load_format_d16_hi_x v4, v1, s[8:11], 0 offen", bytes_sint).at(9) == 0xff800000);
  CHECK(run("tbuffer_load_format_d16_xy v4, v1, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_FLOAT] offen",
            halves)
            .at(9) == 0xfe7f0180);
  const auto stored = run("v_mov_b32 v8, 0x3c00c000\n buffer_store_format_d16_xy v8, v1, s[8:11], 0 offen", halves);
  CHECK(stored.memory[9] == 0x3c00c000);
  const auto high = run("v_mov_b32 v8, 0x3c00c000\n buffer_store_format_d16_hi_x v8, v1, s[8:11], 0 offen", halves);
  CHECK(high.memory[9] == 0x3c00);
}

TEST_CASE("a format load to LDS writes one component a lane") {
  std::vector<std::uint32_t> words(1024, 0x000000ff);
  const auto got = run_lanes({.body = "s_mov_b32 m0, 64\n buffer_load_format_x v1, s[8:11], 0 offen offset:4 lds\n"
                                      "s_waitcnt vmcnt(0)\n v_lshlrev_b32 v9, 2, v0\n ds_read_b32 v4, v9 offset:68",
                              .data = words,
                              .records = 128,
                              .flags = 4 | kUnorm << 12 | 1 << 15,
                              .lds_bytes = 512});
  CHECK(got.at(0) == 0x3f800000);
  CHECK(got.at(30) == 0x3f800000);
  CHECK(got.at(31) == 0);  // out of range: zero is written
}

TEST_CASE("typed accesses on weak memory, with the descriptor gone before the wait") {
  Settings weak;
  weak.memory = MemoryMode::kWeak;
  for (weak.seed = 1; weak.seed <= 8; ++weak.seed) {
    const std::uint32_t flags = 4 | 5 << 3 | 6 << 6 | 7 << 9 | kUint << 12 | 10 << 15;
    const auto got =
        run_lanes({.body = "s_mov_b64 s[16:17], s[8:9]\n s_mov_b64 s[18:19], s[10:11]\n"
                           "buffer_load_format_xyzw v[4:7], v1, s[8:11], 0 offen\n s_mov_b32 s11, 0\n"
                           "s_waitcnt vmcnt(0)\n v_add_u32 v4, 1, v4\n v_add_u32 v1, 0x400, v1\n"
                           "tbuffer_store_format_xyzw v[4:7], v1, s[16:19], 0 "
                           "format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UINT] offen\n s_waitcnt vmcnt(0)\n"
                           "global_load_dword v7, v1, s[4:5]",
                   .data = std::vector<std::uint32_t>(1024, 0x04030201),
                   .flags = flags,
                   .settings = weak});
    for (std::uint32_t lane = 0; lane < 64; ++lane) {
      INFO("seed " << weak.seed << " lane " << lane);
      REQUIRE(got.at(lane, 0) == 2);
      REQUIRE(got.at(lane, 1) == 2);
      REQUIRE(got.at(lane, 3) == 0x04030202);
    }
  }
}

TEST_CASE("formats that the chip does not have are an error that names them") {
  const auto text_of = [](const LaneProgram& program) -> std::string {
    try {
      run_lanes(program);
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "nothing failed";
  };
  CHECK_THAT(text_of({.body = "buffer_load_format_x v4, v1, s[8:11], 0 offen", .flags = kUnorm << 12 | 4 << 15}),
             ContainsSubstring("the descriptor's data format 4 with number format 0 does not exist"));
  CHECK_THAT(text_of({.body = "tbuffer_load_format_x v4, v1, s[8:11], 0 "
                              "format:[BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_FLOAT] offen"}),
             ContainsSubstring("the instruction's data format 1 with number format 7 does not exist"));
  CHECK_THAT(text_of({.body = "tbuffer_load_format_xy v[4:5], v1, s[8:11], 0 "
                              "format:[BUF_DATA_FORMAT_32_32,BUF_NUM_FORMAT_FLOAT] offen offset:2"}),
             ContainsSubstring("misaligned load of 8 bytes"));
}

}  // namespace
}  // namespace monojit::emulator::test
