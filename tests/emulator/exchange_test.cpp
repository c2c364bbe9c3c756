// Data that crosses lanes, against lane by lane definitions.
#include <functional>
#include <optional>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

constexpr std::uint32_t kOld = 0x77777777;

/// Runs the text with v1 = 100 + lane, v2 = kOld, v3 = 3 * lane (mod 64) * 4; returns v2 and v1 of all lanes.
std::vector<std::uint32_t> run_exchange(const std::string& text, std::uint64_t exec) {
  Device device;
  const auto out = device.allocate<std::uint32_t>(128);
  const std::string body = fmt::format(R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_add_u32 v1, 100, v0
  v_mov_b32 v2, {:#x}
  v_mul_u32_u24 v3, 12, v0
  s_waitcnt lgkmcnt(0)
  s_mov_b64 exec, s[6:7]
  {}
  s_mov_b64 exec, -1
  v_lshlrev_b32 v4, 2, v0
  s_waitcnt lgkmcnt(0)
  global_store_dword v4, v2, s[4:5]
  global_store_dword v4, v1, s[4:5] offset:256
)",
                                       kOld, text);
  device.run({.body = body}, {}, {out.address(), exec});
  return {out.data, out.data + 128};
}

using Source = std::function<std::optional<std::uint32_t>(std::uint32_t)>;

struct DppCase {
  std::string control;
  Source source;  ///< the lane read, or nothing
};

std::optional<std::uint32_t> if_inside(std::uint32_t lane, std::int32_t moved) {
  if (moved < 0 || moved > 15) return std::nullopt;
  return lane / 16 * 16 + static_cast<std::uint32_t>(moved);
}

const DppCase kDppCases[] = {
    {"quad_perm:[1,0,3,2]", [](std::uint32_t l) { return l ^ 1; }},
    {"quad_perm:[2,2,0,3]", [](std::uint32_t l) { return l / 4 * 4 + std::array{2u, 2u, 0u, 3u}[l % 4]; }},
    {"row_shl:1", [](std::uint32_t l) { return if_inside(l, static_cast<std::int32_t>(l % 16) + 1); }},
    {"row_shl:8", [](std::uint32_t l) { return if_inside(l, static_cast<std::int32_t>(l % 16) + 8); }},
    {"row_shr:4", [](std::uint32_t l) { return if_inside(l, static_cast<std::int32_t>(l % 16) - 4); }},
    {"row_ror:3", [](std::uint32_t l) { return l / 16 * 16 + (l % 16 + 13) % 16; }},
    {"row_mirror", [](std::uint32_t l) { return l / 16 * 16 + 15 - l % 16; }},
    {"row_half_mirror", [](std::uint32_t l) { return l / 8 * 8 + 7 - l % 8; }},
    {"row_bcast:15", [](std::uint32_t l) { return l < 16 ? std::nullopt : std::optional(l / 16 * 16 - 1); }},
    {"row_bcast:31", [](std::uint32_t l) { return l < 32 ? std::nullopt : std::optional(31u); }},
    {"row_newbcast:5", [](std::uint32_t l) { return l / 16 * 16 + 5; }},
    {"wave_shr:1", [](std::uint32_t l) { return l == 0 ? std::nullopt : std::optional(l - 1); }},
    {"wave_rol:1", [](std::uint32_t l) { return (l + 1) % 64; }},
};

TEST_CASE("DPP moves, masks, zero fill and disabled sources") {
  for (const DppCase& dpp : kDppCases) {
    for (const std::uint64_t exec : {~std::uint64_t{0}, std::uint64_t{0xff00f0f00ff01235}}) {
      for (const bool zero : {false, true}) {
        for (const auto& [rows, banks] : {std::pair{15u, 15u}, std::pair{10u, 12u}}) {
          const std::string modifiers =
              fmt::format("{} row_mask:{:#x} bank_mask:{:#x}{}", dpp.control, rows, banks, zero ? " bound_ctrl:0" : "");
          const auto moved = run_exchange("v_mov_b32_dpp v2, v1 " + modifiers, exec);
          const auto added = run_exchange("v_add_u32_dpp v2, v1, v0 " + modifiers, exec);
          for (std::uint32_t lane = 0; lane < 64; ++lane) {
            const auto source = dpp.source(lane);
            const bool valid = source && (exec >> *source & 1) != 0;
            const bool written = (exec >> lane & 1) != 0 && (rows >> lane / 16 & 1) != 0 &&
                                 (banks >> lane % 16 / 4 & 1) != 0 && (valid || zero);
            const std::uint32_t value = valid ? 100 + *source : 0;
            INFO(modifiers << " lane " << lane << " exec " << exec);
            REQUIRE(moved[lane] == (written ? value : kOld));
            REQUIRE(added[lane] == (written ? value + lane : kOld));
          }
        }
      }
    }
  }
}

TEST_CASE("ds_bpermute pulls, ds_permute pushes") {
  for (const std::uint64_t exec : {~std::uint64_t{0}, std::uint64_t{0x00ff00ff12345671}}) {
    const auto pulled = run_exchange("ds_bpermute_b32 v2, v3, v1 offset:8", exec);
    const auto pushed = run_exchange("ds_permute_b32 v2, v3, v1", exec);
    for (std::uint32_t lane = 0; lane < 64; ++lane) {
      const bool active = (exec >> lane & 1) != 0;
      const std::uint32_t from = (3 * lane + 2) % 64;
      REQUIRE(pulled[lane] == (!active ? kOld : (exec >> from & 1) != 0 ? 100 + from : 0));
      std::uint32_t hit = 0;
      for (std::uint32_t other = 0; other < 64; ++other) {
        if ((exec >> other & 1) != 0 && 3 * other % 64 == lane) hit = 100 + other;
      }
      REQUIRE(pushed[lane] == (active ? hit : kOld));
    }
  }
}

TEST_CASE("ds_swizzle rotates half waves and orders them for FFTs") {
  const auto read = [](std::uint32_t offset) {
    return run_exchange(fmt::format("ds_swizzle_b32 v2, v1 offset:{:#x}", offset), ~std::uint64_t{0});
  };
  const auto reversed = [](std::uint32_t x) {
    return (x & 1) << 4 | (x & 2) << 2 | (x & 4) | (x & 8) >> 2 | (x & 16) >> 4;
  };
  for (const std::uint32_t mask : {0x00u, 0x10u, 0x18u, 0x1fu}) {
    const std::uint32_t fixed_bits = mask == 0 ? 0 : mask == 0x10 ? 1 : mask == 0x18 ? 2 : 5;
    const auto fft = read(0xe000 | mask), left = read(0xc000 | 3 << 5 | mask), right = read(0xc400 | 3 << 5 | mask);
    for (std::uint32_t lane = 0; lane < 64; ++lane) {
      const std::uint32_t half = lane & 32, in_half = lane & 31, free = 31 & ~mask;
      INFO("mask " << mask << " lane " << lane);
      REQUIRE(fft[lane] == 100 + (half | (in_half & mask) | reversed(in_half) >> fixed_bits));
      REQUIRE(left[lane] == 100 + (half | (in_half & mask) | ((in_half + 3) & free)));
      REQUIRE(right[lane] == 100 + (half | (in_half & mask) | ((in_half + 29) & free)));
    }
  }
}

TEST_CASE("ds_swizzle permutes quads and masks bits") {
  const auto quads = run_exchange("ds_swizzle_b32 v2, v1 offset:swizzle(QUAD_PERM,3,2,1,0)", ~std::uint64_t{0});
  const auto masks = run_exchange("ds_swizzle_b32 v2, v1 offset:swizzle(SWAP,16)", ~std::uint64_t{0});
  const auto broadcast = run_exchange("ds_swizzle_b32 v2, v1 offset:swizzle(BROADCAST,8,3)", ~std::uint64_t{0});
  for (std::uint32_t lane = 0; lane < 64; ++lane) {
    REQUIRE(quads[lane] == 100 + (lane ^ 3));
    REQUIRE(masks[lane] == 100 + (lane ^ 16));
    REQUIRE(broadcast[lane] == 100 + lane / 8 * 8 + 3);
  }
}

TEST_CASE("permlane swaps exchange halves of two registers") {
  const auto swap32 = run_exchange("v_mov_b32 v2, v0\n v_permlane32_swap_b32 v2, v1", ~std::uint64_t{0});
  const auto swap16 = run_exchange("v_mov_b32 v2, v0\n v_permlane16_swap_b32 v2, v1", ~std::uint64_t{0});
  for (std::uint32_t lane = 0; lane < 64; ++lane) {
    REQUIRE(swap32[lane] == (lane < 32 ? lane : 100 + lane - 32));
    REQUIRE(swap32[64 + lane] == (lane < 32 ? lane + 32 : 100 + lane));
    const bool odd = (lane & 16) != 0;
    REQUIRE(swap16[lane] == (odd ? 100 + lane - 16 : lane));
    REQUIRE(swap16[64 + lane] == (odd ? 100 + lane : lane + 16));
  }
}

TEST_CASE("readfirstlane, readlane and writelane") {
  const auto first = run_exchange("v_readfirstlane_b32 s8, v1\n v_mov_b32 v2, s8", 0xff00);
  CHECK(first[8] == 108);
  CHECK(first[7] == kOld);
  const auto none = run_exchange(
      "s_mov_b64 exec, 0\n v_readfirstlane_b32 s8, v1\n s_mov_b64 exec, -1\n v_mov_b32 v2, s8", ~std::uint64_t{0});
  CHECK(none[0] == 100);
  const auto read = run_exchange("s_movk_i32 s9, 70\n v_readlane_b32 s8, v1, s9\n v_mov_b32 v2, s8", ~std::uint64_t{0});
  CHECK(read[0] == 106);
  const auto write = run_exchange("s_movk_i32 s9, 42\n v_writelane_b32 v2, s9, 7", 1);
  CHECK(write[7] == 42);
  CHECK(write[6] == kOld);
  const auto swapped = run_exchange("v_swap_b32 v1, v2", 2);
  CHECK(swapped[1] == 101);
  CHECK(swapped[64 + 1] == kOld);
  CHECK(swapped[64] == 100);
}

}  // namespace
}  // namespace monojit::emulator::test
