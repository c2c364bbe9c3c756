// Sorting programs, against the standard library.
#include <algorithm>
#include <numeric>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include "tests/emulator/programs/program.h"

namespace monojit::emulator::test {
namespace {

constexpr u64 kSeed = 21;

TEST_CASE("a bitonic network in LDS sorts tiles of 512 words") {
  Program program("sort", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kTiles = 3, kTile = 512;
  std::vector<u32> keys = random_bits<u32>(kTiles * kTile, kSeed);
  std::fill(keys.begin() + 100, keys.begin() + 200, 7u);
  const auto device = program.upload(keys);
  program.call("bitonic_tile", {.grid = {kTiles, 1, 1}, .block = {256, 1, 1}}, {device});
  for (u32 t = 0; t < kTiles; ++t) std::sort(keys.begin() + t * kTile, keys.begin() + (t + 1) * kTile);
  for (std::size_t i = 0; i < keys.size(); ++i) REQUIRE(device[i] == keys[i]);
}

TEST_CASE("a bitonic network through memory sorts doubles") {
  Program program("sort", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kCount = 1024;
  std::vector<double> keys = random_between(kCount, kSeed, -1e200, 1e-200);
  for (u32 i = 0; i < 100; ++i) keys[i] *= 0x1p-900;
  const auto device = program.upload(keys);
  for (u32 size = 2; size <= kCount; size *= 2) {
    for (u32 stride = size / 2; stride > 0; stride /= 2) {
      program.call("bitonic_step", {.grid = {kCount / 128, 1, 1}}, {device, size, stride});
    }
  }
  std::sort(keys.begin(), keys.end());
  for (u32 i = 0; i < kCount; ++i) REQUIRE(device[i] == keys[i]);
}

TEST_CASE("a radix sort of 64-bit keys with values is stable") {
  Program program("sort", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kGroups = 5, kCount = kGroups * 256, kDigits = 16, kDigitBits = 4, kKeyBits = 40;
  std::vector<u64> keys = random_bits<u64>(kCount, kSeed);
  for (u32 i = 0; i < kCount; ++i) keys[i] &= i % 3 == 0 ? 0xff : (u64{1} << kKeyBits) - 1;
  std::vector<u32> order(kCount);
  std::iota(order.begin(), order.end(), 0u);
  auto from = program.upload(keys), to = program.allocate<u64>(kCount);
  auto from_values = program.upload(order), to_values = program.allocate<u32>(kCount);
  const auto counts = program.allocate<u32>(kGroups * kDigits);
  for (u32 shift = 0; shift < kKeyBits; shift += kDigitBits) {
    program.call("radix_count", {.grid = {kGroups, 1, 1}}, {from, counts, shift});
    program.call("exclusive_scan", {.block = {256, 1, 1}}, {counts, kGroups * kDigits});
    program.call("radix_scatter", {.grid = {kGroups, 1, 1}}, {from, from_values, to, to_values, counts, shift});
    std::swap(from, to);
    std::swap(from_values, to_values);
  }
  std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return keys[a] < keys[b]; });
  for (u32 i = 0; i < kCount; ++i) {
    REQUIRE(from_values[i] == order[i]);
    REQUIRE(from[i] == keys[order[i]]);
  }
}

TEST_CASE("sorted runs of 16-bit keys merge by binary search") {
  Program program("sort", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kCount = 1024;
  std::vector<i16> keys(kCount);
  const auto random = random_bits<u64>(kCount, kSeed);
  for (u32 i = 0; i < kCount; ++i) keys[i] = static_cast<i16>(random[i] % 3 == 0 ? 5 : random[i] >> 16);
  auto from = program.upload(keys), to = program.allocate<i16>(kCount);
  for (u32 width = 1; width < kCount; width *= 2) {
    program.call("merge_runs", {.grid = {kCount / 256, 1, 1}, .block = {256, 1, 1}}, {from, to, width});
    std::swap(from, to);
  }
  std::sort(keys.begin(), keys.end());
  for (u32 i = 0; i < kCount; ++i) REQUIRE(from[i] == keys[i]);
}

}  // namespace
}  // namespace monojit::emulator::test
