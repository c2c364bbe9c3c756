// Loads and stores of every width with scattered lanes under full and partial EXEC, in both builds of the handlers:
// each active lane moves its own words, the others neither move nor count as addresses.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <fmt/format.h>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

constexpr std::uint32_t kLaneWords = 4;
constexpr std::uint32_t kUntouched = 0xFFFFFFFF;
constexpr std::uint64_t kMasks[] = {
    ~std::uint64_t{0},  ~std::uint64_t{1},  0x5555555555555555, 0x0000000000FFFFFF,
    0x0000000000FFFFFE, 0x8000000000000001, 0x0123456789ABCDEF, 0xFFFFFFFF00000000,
};

std::uint32_t scattered(std::uint32_t lane) { return lane * 37 % 64; }

/// v1 the scattered lane's byte offset (out of all memory in inactive lanes), v2 the lane's own, v[8:11] the lane's own
/// input words, also in LDS; v[4:7] all ones; then EXEC is the mask.
constexpr const char* kPrologue = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x10
  v_mul_u32_u24 v1, 37, v0
  v_and_b32 v1, 63, v1
  v_lshlrev_b32 v1, 4, v1
  v_lshlrev_b32 v2, 4, v0
  v_mov_b32 v4, -1
  v_mov_b32 v5, -1
  v_mov_b32 v6, -1
  v_mov_b32 v7, -1
  s_waitcnt lgkmcnt(0)
  global_load_dwordx4 v[8:11], v2, s[4:5]
  s_waitcnt vmcnt(0)
  ds_write_b128 v2, v[8:11]
  s_waitcnt lgkmcnt(0)
  s_not_b64 exec, s[8:9]
  v_mov_b32 v1, 0x7fff0000
  s_mov_b64 exec, s[8:9]
)";

std::vector<std::uint32_t> run(HostIsa isa, std::uint64_t mask, const std::string& body) {
  Device device({}, isa);
  std::vector<std::uint32_t> words(64 * kLaneWords);
  for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = i * 0x9E3779B1U;
  const auto in = device.upload(words);
  const auto out = device.upload(std::vector<std::uint32_t>(words.size(), kUntouched));
  device.run({.body = kPrologue + body, .lds_bytes = 1024}, {}, {in.address(), out.address(), mask});
  return {out.data, out.data + words.size()};
}

std::uint32_t input(std::uint32_t lane, std::uint32_t word) { return (lane * kLaneWords + word) * 0x9E3779B1U; }

std::string registers(std::uint32_t first, std::uint32_t count) {
  return count == 1 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + count - 1);
}

std::string suffix(std::uint32_t words) { return words == 1 ? "dword" : fmt::format("dwordx{}", words); }

}  // namespace

TEST_CASE("scattered loads of every width give each active lane its words and leave the others alone") {
  const HostIsa isa = GENERATE(HostIsa::kX86V3, HostIsa::kX86V4);
  const std::uint64_t mask = GENERATE(from_range(std::begin(kMasks), std::end(kMasks)));
  const std::uint32_t width = GENERATE(1U, 2U, 3U, 4U);
  const bool from_lds = GENERATE(false, true);
  if (!host_has(isa)) SKIP("this processor has no AVX-512");
  const std::string load = from_lds ? fmt::format("ds_read_b{} {}, v1", 32 * width, registers(4, width))
                                    : fmt::format("global_load_{} {}, v1, s[4:5]", suffix(width), registers(4, width));
  const auto out = run(isa, mask, load + R"(
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_mov_b64 exec, -1
  global_store_dwordx4 v2, v[4:7], s[6:7]
)");
  INFO(load << " under " << fmt::format("{:x}", mask));
  for (std::uint32_t lane = 0; lane < 64; ++lane)
    for (std::uint32_t word = 0; word < kLaneWords; ++word) {
      const bool loaded = (mask >> lane & 1) != 0 && word < width;
      REQUIRE(out[kLaneWords * lane + word] == (loaded ? input(scattered(lane), word) : kUntouched));
    }
}

TEST_CASE("scattered stores of every width write what each active lane has and nothing else") {
  const HostIsa isa = GENERATE(HostIsa::kX86V3, HostIsa::kX86V4);
  const std::uint64_t mask = GENERATE(from_range(std::begin(kMasks), std::end(kMasks)));
  const std::uint32_t width = GENERATE(1U, 2U, 3U, 4U);
  if (!host_has(isa)) SKIP("this processor has no AVX-512");
  const auto out = run(isa, mask, fmt::format("global_store_{} v1, {}, s[6:7]", suffix(width), registers(8, width)));
  INFO(width << " words under " << fmt::format("{:x}", mask));
  for (std::uint32_t lane = 0; lane < 64; ++lane)
    for (std::uint32_t word = 0; word < kLaneWords; ++word) {
      const bool stored = (mask >> lane & 1) != 0 && word < width;
      REQUIRE(out[kLaneWords * scattered(lane) + word] == (stored ? input(lane, word) : kUntouched));
    }
}

}  // namespace monojit::emulator::test
