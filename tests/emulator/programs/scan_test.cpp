// Reductions and scans, against sums in order.
#include <algorithm>
#include <bit>
#include <numeric>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include "tests/emulator/programs/program.h"

namespace monojit::emulator::test {
namespace {

constexpr u64 kSeed = 22;

TEST_CASE("workgroups reduce floats in the order of the tree") {
  Program program("scan", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kGroups = 3, kBlock = 256, kCount = 5000;
  const std::vector<float> in = random_between(kCount, kSeed, -1.0f, 1.0f);
  const auto source = program.upload(in), out = program.allocate<float>(kGroups);
  program.call("reduce", {.grid = {kGroups, 1, 1}, .block = {kBlock, 1, 1}}, {source, out, kCount});
  for (u32 group = 0; group < kGroups; ++group) {
    std::vector<float> sums(kBlock, 0.0f);
    for (u32 i = 0; i < kCount; ++i) {
      if (i / kBlock % kGroups == group) sums[i % kBlock] += in[i];
    }
    for (u32 half = kBlock / 2; half > 0; half /= 2) {
      for (u32 i = 0; i < half; ++i) sums[i] += sums[i + half];
    }
    REQUIRE(out[group] == sums[0]);
  }
}

TEST_CASE("the device library's group functions reduce, scan, broadcast and vote") {
  Program program("scan", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kBlock = 256, kCount = 2 * kBlock, kWave = 64, kResults = 8;
  std::vector<i32> in = random_bits<i32>(kCount, kSeed);
  for (u32 i = 0; i < kBlock; ++i) in[i] %= 1000;
  const auto source = program.upload(in), out = program.allocate<i32>(kCount * kResults);
  program.call("group_functions", {.grid = {2, 1, 1}, .block = {kBlock, 1, 1}}, {source, out});
  const auto wrapping_sum = [&](u32 first, u32 last) {
    u32 sum = 0;
    for (u32 i = first; i < last; ++i) sum += static_cast<u32>(in[i]);
    return static_cast<i32>(sum);
  };
  for (u32 i = 0; i < kCount; ++i) {
    const u32 group = i / kBlock * kBlock, wave = i / kWave * kWave;
    const auto first = in.begin() + group, last = first + kBlock;
    const i32* const own = &out[i * kResults];
    INFO("item " << i);
    REQUIRE(own[0] == wrapping_sum(group, group + kBlock));
    REQUIRE(own[1] == wrapping_sum(group, i + 1));
    REQUIRE(own[2] == (i == group ? std::numeric_limits<i32>::min() : *std::max_element(first, in.begin() + i)));
    REQUIRE(own[3] == in[group + 77]);
    REQUIRE(own[4] == *std::min_element(in.begin() + wave, in.begin() + wave + kWave));
    REQUIRE(own[5] == wrapping_sum(wave, i));
    REQUIRE((own[6] != 0) == std::any_of(first, last, [](i32 v) { return v > 1000000; }));
    REQUIRE((own[7] != 0) == std::all_of(first, last, [](i32 v) { return v > -2000000000; }));
  }
}

TEST_CASE("waves scan 64-bit values by lane permutes and total words by row moves") {
  Program program("scan", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kCount = 192, kWave = 64;
  const std::vector<u64> in = random_bits<u64>(kCount, kSeed);
  const auto source = program.upload(in), scan = program.allocate<u64>(kCount);
  const auto totals = program.allocate<u32>(kCount);
  program.call("wave_scan", {.block = {kCount, 1, 1}}, {source, scan, totals});
  u64 sum = 0;
  for (u32 i = 0; i < kCount; ++i) {
    sum = (i % kWave == 0 ? 0 : sum) + in[i];
    REQUIRE(scan[i] == sum);
    const auto first = in.begin() + i / kWave * kWave;
    REQUIRE(totals[i] == static_cast<u32>(std::accumulate(first, first + kWave, u64{0})));
  }
}

TEST_CASE("odd values move to the front of their wave") {
  Program program("scan", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kCount = 256, kWave = 64;
  const std::vector<u32> in = random_bits<u32>(kCount, kSeed);
  const auto source = program.upload(in), out = program.upload(std::vector<u32>(kCount, 0u));
  const auto counts = program.allocate<u32>(kCount / kWave);
  program.call("compact", {.grid = {2, 1, 1}, .block = {128, 1, 1}}, {source, out, counts});
  for (u32 wave = 0; wave < kCount / kWave; ++wave) {
    std::vector<u32> odd;
    std::copy_if(in.begin() + wave * kWave, in.begin() + (wave + 1) * kWave, std::back_inserter(odd),
                 [](u32 v) { return v % 2 == 1; });
    REQUIRE(counts[wave] == odd.size());
    odd.resize(kWave, 0);
    for (u32 i = 0; i < kWave; ++i) REQUIRE(out[wave * kWave + i] == odd[i]);
  }
}

TEST_CASE("workgroups scan an array in one pass by looking back at the ones before them") {
  Program program("scan", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kGroups = 40, kBlock = 256, kCount = kGroups * kBlock;
  const std::vector<u32> in = random_bits<u32>(kCount, kSeed);
  const auto source = program.upload(in), out = program.allocate<u32>(kCount);
  const auto state = program.upload(std::vector<u64>(kGroups, 0)), ticket = program.upload(std::vector<u64>(1, 0));
  program.call("look_back", {.grid = {kGroups, 1, 1}, .block = {kBlock, 1, 1}}, {source, out, state, ticket});
  u32 sum = 0;
  for (u32 i = 0; i < kCount; ++i) {
    sum += in[i];
    REQUIRE(out[i] == sum);
  }
}

}  // namespace
}  // namespace monojit::emulator::test
