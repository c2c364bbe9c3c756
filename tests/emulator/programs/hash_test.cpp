// Hashes and AES, against the standards' test vectors and the same source on the host.
#include <array>
#include <cmath>
#include <string_view>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include "tests/emulator/programs/hash_core.h"
#include "tests/emulator/programs/program.h"

namespace monojit::emulator::test {
namespace {

constexpr u64 kSeed = 23;
constexpr u32 kMessages = 128, kBlockBytes = 64;

/// Message 0 is "abc", padded; the other blocks are random.
std::vector<u8> blocks(bool length_first) {
  std::vector<u8> bytes = random_bits<u8>(kMessages * kBlockBytes, kSeed);
  std::fill_n(bytes.begin(), kBlockBytes, u8{0});
  constexpr std::string_view kText = "abc";
  std::copy(kText.begin(), kText.end(), bytes.begin());
  bytes[kText.size()] = 0x80;
  bytes[length_first ? kBlockBytes - 8 : kBlockBytes - 1] = 8 * kText.size();
  return bytes;
}

DEFINE_AES(aes128_host, const uchar*)

// The inverse in GF(2^8), then the affine map of the standard.
std::array<u8, 256> s_box() {
  std::array<u8, 256> box{};
  const auto product = [](u8 a, u8 b) {
    u8 sum = 0;
    for (; b != 0; b = static_cast<u8>(b >> 1), a = doubled(a)) sum = static_cast<u8>(sum ^ ((b & 1) != 0 ? a : 0));
    return sum;
  };
  for (u32 x = 0; x < 256; ++x) {
    u8 inverse = 0;
    for (u32 y = 1; y < 256; ++y) {
      if (product(static_cast<u8>(x), static_cast<u8>(y)) == 1) inverse = static_cast<u8>(y);
    }
    u32 out = 0x63;
    for (u32 turn = 0; turn < 5; ++turn) out ^= inverse << turn | inverse >> (8 - turn);
    box[x] = static_cast<u8>(out);
  }
  return box;
}

TEST_CASE("SHA-256 of blocks") {
  Program program("hash", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  const std::vector<u8> in = blocks(false);
  const auto source = program.upload(in);
  const auto states = program.allocate<u32>(kMessages * 8);
  program.call("sha256_blocks", {.grid = {kMessages / 64, 1, 1}}, {source, states});
  constexpr std::array<u32, 8> kOfAbc{0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                      0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
  for (u32 i = 0; i < kOfAbc.size(); ++i) REQUIRE(states[i] == kOfAbc[i]);
  for (u32 m = 0; m < kMessages; ++m) {
    std::array<u32, 8> state{};
    sha256(&in[m * kBlockBytes], state.data());
    for (u32 i = 0; i < state.size(); ++i) REQUIRE(states[8 * m + i] == state[i]);
  }
}

TEST_CASE("MD5 of blocks, with its table from the device's sines") {
  Program program("hash", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  const std::vector<u8> in = blocks(true);
  const auto source = program.upload(in);
  const auto states = program.allocate<u32>(kMessages * 4);
  program.call("md5_blocks", {.grid = {kMessages / 64, 1, 1}}, {source, states});
  constexpr std::array<u32, 4> kOfAbc{0x98500190, 0xb04fd23c, 0x7d3f96d6, 0x727fe128};
  for (u32 i = 0; i < kOfAbc.size(); ++i) REQUIRE(states[i] == kOfAbc[i]);
  std::array<u32, 64> sines{};
  for (u32 i = 0; i < sines.size(); ++i) sines[i] = static_cast<u32>(0x1p32L * std::abs(std::sin(i + 1.0L)));
  for (u32 m = 0; m < kMessages; ++m) {
    std::array<u32, 4> state{};
    md5(&in[m * kBlockBytes], sines.data(), state.data());
    for (u32 i = 0; i < state.size(); ++i) REQUIRE(states[4 * m + i] == state[i]);
  }
}

TEST_CASE("CRC-32 of messages of different lengths") {
  Program program("hash", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  std::vector<u8> in = random_bits<u8>(kMessages * kBlockBytes, kSeed);
  constexpr std::string_view kText = "123456789";
  std::copy(kText.begin(), kText.end(), in.begin());
  std::vector<u32> lengths(kMessages);
  for (u32 m = 0; m < kMessages; ++m) lengths[m] = m == 0 ? u32{kText.size()} : m * 7 % (kBlockBytes + 1);
  const auto source = program.upload(in);
  const auto counts = program.upload(lengths), sums = program.allocate<u32>(kMessages);
  program.call("crc32_messages", {.grid = {kMessages / 64, 1, 1}}, {source, counts, sums});
  constexpr u32 kCheck = 0xcbf43926;
  REQUIRE(sums[0] == kCheck);
  for (u32 m = 0; m < kMessages; ++m) REQUIRE(sums[m] == crc32(&in[m * kBlockBytes], lengths[m]));
}

TEST_CASE("AES-128 with its S-box in LDS") {
  Program program("hash", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  const std::array<u8, 256> box = s_box();
  std::vector<u8> key(16), text = random_bits<u8>(kMessages * 16, kSeed);
  for (u32 i = 0; i < 16; ++i) {
    key[i] = static_cast<u8>(i);
    text[i] = static_cast<u8>(i * 0x11);
  }
  const auto device = program.upload(text), device_key = program.upload(key);
  const auto device_box = program.upload(std::vector<u8>(box.begin(), box.end()));
  program.call("aes128", {.block = {kMessages, 1, 1}}, {device, device_key, device_box});
  constexpr std::array<u8, 16> kOfStandard{0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                                           0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
  for (u32 i = 0; i < 16; ++i) REQUIRE(device[i] == kOfStandard[i]);
  for (u32 m = 0; m < kMessages; ++m) aes128_host(&text[16 * m], key.data(), box.data());
  for (u32 i = 0; i < text.size(); ++i) REQUIRE(device[i] == text[i]);
}

}  // namespace
}  // namespace monojit::emulator::test
