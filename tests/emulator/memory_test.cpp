// Vector and scalar memory instructions: widths, halves, address forms, range checks, atomics.
#include <numeric>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/emulator/device.h"
#include "tests/emulator/lane_program.h"

namespace monojit::emulator::test {
namespace {

std::vector<std::uint8_t> counting_bytes(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i * 37 + 11 + i / 256);
  return bytes;
}

template <class T>
T at(const std::uint8_t* bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

/// Runs `load`, which fills v[4:7] from s[4:5] (or the buffer s[8:11] over the same bytes) with lane offsets in v1 and
/// addresses in v[2:3]; gives back four words a lane.
std::vector<std::uint32_t> run_load(const std::string& load, std::uint32_t stride, std::uint64_t exec,
                                    std::uint32_t records = 4096, std::uint32_t lds_bytes = 0) {
  const std::vector<std::uint8_t> bytes = counting_bytes(4096);
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return run_lanes(
             {.body = load, .data = words, .pitch = stride, .records = records, .exec = exec, .lds_bytes = lds_bytes})
      .words;
}

constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint64_t kSome = 0xf00f00010000aa55;

TEST_CASE("loads of every width fill their registers from each address form") {
  const auto bytes = counting_bytes(4096);
  for (std::uint32_t words = 1; words <= 4; ++words) {
    const std::string width = words == 1 ? "dword" : fmt::format("dwordx{}", words);
    const std::string data = words == 1 ? "v4" : fmt::format("v[4:{}]", 3 + words);
    for (const auto& [text, offset] :
         {std::pair{fmt::format("global_load_{} {}, v1, s[4:5] offset:12", width, data), 12u},
          {fmt::format("global_load_{} {}, v[2:3], off offset:4", width, data), 4u},
          {fmt::format("flat_load_{} {}, v[2:3]", width, data), 0u},
          {fmt::format("buffer_load_{} {}, v1, s[8:11], 0 offen offset:20", width, data), 20u},
          {fmt::format("s_movk_i32 s14, 0x40\n buffer_load_{} {}, v1, s[8:11], s14 offen sc0 sc1", width, data), 64u},
          {fmt::format("buffer_load_{} {}, v1, s[8:11], 16 offen", width, data), 16u}}) {
      for (const std::uint32_t stride : {4u, 20u, 56u}) {
        for (const std::uint64_t exec : {kAll, kSome, std::uint64_t{0}}) {
          const auto got = run_load(text, stride, exec);
          for (std::uint32_t lane = 0; lane < 64; ++lane) {
            for (std::uint32_t word = 0; word < 4; ++word) {
              const bool loaded = (exec >> lane & 1) != 0 && word < words;
              INFO(text << " stride " << stride << " lane " << lane << " word " << word);
              REQUIRE(got[4 * lane + word] ==
                      (loaded ? at<std::uint32_t>(bytes.data(), lane * stride + offset + 4 * word) : kUntouched));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("narrow loads extend, d16 loads clear the other half") {
  const auto bytes = counting_bytes(4096);
  const auto check = [&](const std::string& text, auto want) {
    const auto got = run_load(text, 3, kAll);
    for (std::uint32_t lane = 0; lane < 64; ++lane) {
      INFO(text << " lane " << lane);
      REQUIRE(got[4 * lane] == want(bytes.data() + 3 * lane));
    }
  };
  for (const std::string form : {"global", "buffer"}) {
    const auto load = [&](const std::string& kind) {
      return form == "global" ? fmt::format("global_load_{} v4, v1, s[4:5]", kind)
                              : fmt::format("buffer_load_{} v4, v1, s[8:11], 0 offen", kind);
    };
    check(load("ubyte"), [](const std::uint8_t* p) { return std::uint32_t{*p}; });
    check(load("sbyte"),
          [](const std::uint8_t* p) { return static_cast<std::uint32_t>(static_cast<std::int8_t>(*p)); });
    check(load("ushort"), [](const std::uint8_t* p) { return std::uint32_t{at<std::uint16_t>(p, 0)}; });
    check(load("sshort"), [](const std::uint8_t* p) { return static_cast<std::uint32_t>(at<std::int16_t>(p, 0)); });
    check(load("short_d16"), [](const std::uint8_t* p) { return std::uint32_t{at<std::uint16_t>(p, 0)}; });
    check(load("short_d16_hi"), [](const std::uint8_t* p) { return std::uint32_t{at<std::uint16_t>(p, 0)} << 16; });
    check(load("ubyte_d16_hi"), [](const std::uint8_t* p) { return std::uint32_t{*p} << 16; });
  }
}

TEST_CASE("buffer loads beyond num_records give zero, dword by dword") {
  const auto bytes = counting_bytes(4096);
  constexpr std::uint32_t kRecords = 500;
  for (const std::string text : {"buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen offset:8",
                                 "s_movk_i32 s14, 0x8\n buffer_load_dwordx4 v[4:7], v1, s[8:11], s14 offen"}) {
    const auto got = run_load(text, 12, kAll, kRecords);
    for (std::uint32_t lane = 0; lane < 64; ++lane) {
      for (std::uint32_t word = 0; word < 4; ++word) {
        const std::uint32_t offset = 12 * lane + 8 + 4 * word;
        INFO(text << " lane " << lane << " word " << word);
        REQUIRE(got[4 * lane + word] == (offset + 4 <= kRecords ? at<std::uint32_t>(bytes.data(), offset) : 0));
      }
    }
  }
  const auto none = run_load("buffer_load_dword v4, v1, s[8:11], 0 offen", 4, kAll, 0);
  for (std::uint32_t lane = 0; lane < 64; ++lane) REQUIRE(none[4 * lane] == 0);
}

TEST_CASE("buffer stores beyond num_records are dropped, dword by dword") {
  Device device;
  const auto out = device.allocate<std::uint32_t>(64);
  const char* const body = R"(
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  s_movk_i32 s10, 0x48
  s_mov_b32 s11, 0x00027000
  v_lshlrev_b32 v1, 4, v0
  v_mov_b32 v2, 1
  v_mov_b32 v3, 2
  v_mov_b32 v4, 3
  v_mov_b32 v5, 4
  s_waitcnt lgkmcnt(0)
  buffer_store_dwordx4 v[2:5], v1, s[8:11], 0 offen
)";
  device.run({.body = body}, {}, {out.address()});
  for (std::uint32_t i = 0; i < 64; ++i) REQUIRE(out[i] == (i < 18 ? i % 4 + 1 : 0));
}

TEST_CASE("a strided buffer with idxen checks the index alone") {
  const auto bytes = counting_bytes(4096);
  // Stride 24 in bits 61:48, 50 records; the second load is not indexed: raw bytes.
  const std::string stride = "s_or_b32 s9, s9, 0x00180000\n";
  const auto got = run_load(stride + "buffer_load_dword v4, v0, s[8:11], 0 idxen offset:4", 4, kAll, 50);
  for (std::uint32_t lane = 0; lane < 64; ++lane)
    REQUIRE(got[4 * lane] == (lane < 50 ? at<std::uint32_t>(bytes.data(), 24 * lane + 4) : 0));
}

TEST_CASE("an unbound descriptor reads zero") {
  const auto got = run_load("s_mov_b32 s11, 0\n buffer_load_dword v4, v1, s[8:11], 0 offen", 4, kAll);
  for (std::uint32_t lane = 0; lane < 64; ++lane) REQUIRE(got[4 * lane] == 0);
}

TEST_CASE("loads to LDS place lanes behind each other from M0") {
  const auto bytes = counting_bytes(4096);
  const auto got = run_load(
      "s_mov_b32 m0, 16\n buffer_load_dword v1, s[8:11], 0 offen offset:8 lds\n s_waitcnt vmcnt(0)\n"
      "v_lshlrev_b32 v9, 2, v0\n ds_read_b32 v4, v9 offset:24",
      12, kAll, 600, 1024);
  for (std::uint32_t lane = 0; lane < 64; ++lane) {
    const std::uint32_t offset = 12 * lane + 8;
    REQUIRE(got[4 * lane] == (offset + 4 <= 600 ? at<std::uint32_t>(bytes.data(), offset) : 0));
  }
  const auto wide = run_load(
      "s_mov_b32 m0, 0\n global_load_lds_dwordx4 v[2:3], off\n s_waitcnt vmcnt(0)\n v_lshlrev_b32 v9, 4, v0\n "
      "ds_read_b128 v[4:7], v9",
      16, kAll, 4096, 1024);
  for (std::uint32_t i = 0; i < 256; ++i) REQUIRE(wide[i] == at<std::uint32_t>(bytes.data(), 4 * i));
}

TEST_CASE("transposed LDS reads exchange elements inside groups of 16 lanes") {
  const auto bytes = counting_bytes(1024);
  struct Form {
    const char* text;
    std::uint32_t bits, words;
  };
  for (const Form& form : {Form{"ds_read_b64_tr_b16 v[4:5], v9", 16, 2}, Form{"ds_read_b64_tr_b8 v[4:5], v9", 8, 2},
                           Form{"ds_read_b64_tr_b4 v[4:5], v9", 4, 2}, Form{"ds_read_b96_tr_b6 v[4:6], v9", 6, 3}}) {
    const auto got = run_load(
        "s_mov_b32 m0, 0\n global_load_lds_dwordx4 v[2:3], off\n s_waitcnt vmcnt(0)\n v_lshlrev_b32 v9, 4, v0\n " +
            std::string(form.text),
        16, kAll, 4096, 1024);
    const std::uint32_t count = form.words * 32 / form.bits;
    const auto bit_of = [](const auto& source, std::uint32_t bit) { return source[bit / 8] >> bit % 8 & 1; };
    for (std::uint32_t lane = 0; lane < 64; ++lane) {
      const auto* const result = reinterpret_cast<const std::uint8_t*>(&got[4 * lane]);
      for (std::uint32_t n = 0; n < count; ++n) {
        // Rows of `count` elements, one a lane, become columns.
        const std::uint32_t source = lane / 16 * 16 + lane % 16 / count + n * 16 / count, element = lane % 16 % count;
        for (std::uint32_t bit = 0; bit < form.bits; ++bit) {
          INFO(form.text << " lane " << lane << " element " << n);
          REQUIRE(bit_of(result, n * form.bits + bit) == bit_of(bytes, source * 128 + element * form.bits + bit));
        }
      }
    }
  }
}

TEST_CASE("LDS stores and loads of every width agree") {
  Device device;
  const auto out = device.allocate<std::uint32_t>(64 * 8);
  const char* const body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 5, v0
  v_add_u32 v2, 0x100, v0
  v_add_u32 v3, 0x200, v0
  v_add_u32 v4, 0x300, v0
  v_add_u32 v5, 0x400, v0
  ds_write_b128 v1, v[2:5]
  ds_write2_b64 v1, v[2:3], v[4:5] offset0:3 offset1:2
  ds_write_b8 v1, v2 offset:1
  ds_write_b16_d16_hi v1, v2 offset:2
  s_waitcnt lgkmcnt(0)
  ds_read_b96 v[6:8], v1
  ds_read_b32 v9, v1 offset:12
  ds_read2_b32 v[10:11], v1 offset0:4 offset1:5
  ds_read_b64 v[12:13], v1 offset:24
  s_waitcnt lgkmcnt(0)
  global_store_dwordx4 v1, v[6:9], s[4:5]
  global_store_dwordx4 v1, v[10:13], s[4:5] offset:16
)";
  device.run({.body = body, .lds_bytes = 2048}, {}, {out.address()});
  for (std::uint32_t i = 0; i < 64; ++i) {
    const std::uint32_t first = i | i << 8;  // the byte at offset 1 was written again, the upper half by d16_hi
    REQUIRE(out[8 * i] == first);
    for (std::uint32_t k = 1; k < 4; ++k) REQUIRE(out[8 * i + k] == 0x100 * (k + 1) + i);
    REQUIRE(out[8 * i + 4] == 0x300 + i);
    REQUIRE(out[8 * i + 5] == 0x400 + i);
    REQUIRE(out[8 * i + 6] == 0x100 + i);
    REQUIRE(out[8 * i + 7] == 0x200 + i);
  }
}

/// Runs one atomic by 64 lanes on one word that starts at `start`, with lane + 1 as data; returns {word, sum of
/// returned}.
std::pair<std::uint64_t, std::uint64_t> run_atomic(const std::string& text, std::uint64_t start) {
  Device device;
  const auto word = device.upload(std::vector<std::uint64_t>{start});
  const auto out = device.allocate<std::uint64_t>(64);
  const std::string body = fmt::format(R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_add_u32 v2, 1, v0
  v_mov_b32 v3, 0
  v_mov_b32 v4, 3
  v_mov_b32 v5, 0
  v_mov_b32 v8, 0
  v_mov_b32 v9, 0
  v_cvt_f32_u32 v10, v2
  s_waitcnt lgkmcnt(0)
  {}
  s_waitcnt vmcnt(0)
  v_lshlrev_b32 v6, 3, v0
  global_store_dwordx2 v6, v[8:9], s[6:7]
)",
                                       text);
  device.run({.body = body}, {}, {word.address(), out.address()});
  return {word[0], std::accumulate(out.data, out.data + 64, std::uint64_t{0})};
}

TEST_CASE("atomics of 32 and 64 bits change memory and return what was there") {
  constexpr std::uint64_t kSum = 64 * 65 / 2;
  // Lanes go in rising order, so the value before lane i is the sum of 1..i.
  std::uint64_t before = 0, running = 100;
  for (std::uint64_t i = 1; i <= 64; ++i) before += running, running += i;
  CHECK(run_atomic("global_atomic_add v8, v1, v2, s[4:5] sc0", 100) == std::pair{100 + kSum, before});
  CHECK(run_atomic("global_atomic_add v1, v2, s[4:5]", 100) == std::pair{100 + kSum, std::uint64_t{0}});
  CHECK(run_atomic("global_atomic_add_x2 v[8:9], v1, v[2:3], s[4:5] sc0", 100) == std::pair{100 + kSum, before});
  CHECK(run_atomic("global_atomic_umax v1, v2, s[4:5]", 7).first == 64);
  CHECK(run_atomic("global_atomic_smin v1, v2, s[4:5]", 0xfffffff0).first == 0xfffffff0);
  CHECK(run_atomic("global_atomic_umin v1, v2, s[4:5]", 0xfffffff0).first == 1);
  CHECK(run_atomic("global_atomic_or v1, v2, s[4:5]", 0).first == 127);
  CHECK(run_atomic("global_atomic_xor_x2 v1, v[2:3], s[4:5]", std::uint64_t{1} << 40).first ==
        (std::uint64_t{1} << 40 | 64));
  CHECK(run_atomic("global_atomic_swap v1, v2, s[4:5]", 5).first == 64);
  // Only the lane whose second data register (3) equals memory stores its first: lane 0 stores 1, then nobody matches.
  CHECK(run_atomic("v_mov_b32 v3, 3\n global_atomic_cmpswap v1, v[2:3], s[4:5]", 3).first == 1);
  CHECK(run_atomic("global_atomic_cmpswap_x2 v1, v[2:5], s[4:5]", 3).first == 1);
  CHECK(run_atomic("global_atomic_inc v1, v4, s[4:5]", 0).first == 0);
  CHECK(run_atomic("global_atomic_add_f32 v1, v10, s[4:5]", 0).first == 0x45020000);
  CHECK(run_atomic("v_mov_b32 v10, 0x3f803f80\n global_atomic_pk_add_bf16 v1, v10, s[4:5]", 0).first == 0x42804280);
  CHECK(run_atomic("v_mov_b32 v6, s4\n v_mov_b32 v7, s5\n flat_atomic_add v[6:7], v2", 100).first == 100 + kSum);
}

TEST_CASE("LDS atomics") {
  Device device;
  const auto out = device.allocate<std::uint32_t>(4);
  const char* const body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 0
  v_mov_b32 v3, 0
  ds_write_b64 v1, v[2:3]
  ds_write_b64 v1, v[2:3] offset:8
  s_waitcnt lgkmcnt(0)
  v_add_u32 v4, 1, v0
  v_cvt_f32_u32 v5, v4
  ds_add_u32 v1, v4
  ds_max_rtn_i32 v6, v1, v4 offset:4
  ds_add_f32 v1, v5 offset:8
  v_mov_b32 v7, 0
  v_mov_b32 v8, 9
  ds_cmpst_b32 v1, v7, v8 offset:12
  s_waitcnt lgkmcnt(0)
  ds_read_b128 v[8:11], v1
  s_waitcnt lgkmcnt(0)
  global_store_dwordx4 v1, v[8:11], s[4:5]
)";
  device.run({.body = body, .lds_bytes = 64}, {}, {out.address()});
  CHECK(out[0] == 64 * 65 / 2);
  CHECK(out[1] == 64);
  CHECK(out[2] == 0x45020000);
  CHECK(out[3] == 9);
}

TEST_CASE("scalar loads take immediate and register offsets and may fill vcc") {
  Device device;
  std::vector<std::uint32_t> words(64);
  std::iota(words.begin(), words.end(), 1000u);
  const auto source = device.upload(words), out = device.allocate<std::uint32_t>(4);
  const char* const body = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_movk_i32 s14, 0x20
  s_waitcnt lgkmcnt(0)
  s_load_dword s8, s[4:5], s14
  s_load_dword s9, s[4:5], s14 offset:0x8
  s_load_dwordx2 vcc, s[4:5], 0x40
  s_mov_b32 s10, 0x80
  s_mov_b32 s11, 0x00027000
  s_mov_b64 s[12:13], s[6:7]
  s_mov_b64 s[6:7], s[10:11]
  s_buffer_load_dwordx2 s[16:17], s[4:7], 0x7c
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s8
  v_mov_b32 v3, s9
  v_mov_b32 v4, vcc_hi
  s_add_u32 s16, s16, s17
  v_mov_b32 v5, s16
  v_mov_b32 v6, 0
  global_store_dwordx4 v6, v[2:5], s[12:13]
)";
  device.run({.body = body}, {.block = {1, 1, 1}}, {source.address(), out.address()});
  CHECK(out[0] == 1008);
  CHECK(out[1] == 1010);
  CHECK(out[2] == 1017);
  CHECK(out[3] == 1031);  // the second word lies behind num_records and reads zero
}

}  // namespace
}  // namespace monojit::emulator::test
