// Atomic operations: what they must come to in whatever order they happen.
#include <algorithm>
#include <bit>
#include <numeric>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include "tests/emulator/programs/program.h"

namespace monojit::emulator::test {
namespace {

constexpr u64 kSeed = 26;
constexpr u32 kCount = 512;
constexpr Shape kShape{.grid = {kCount / 128, 1, 1}, .block = {128, 1, 1}};

template <class T, class Function>
T folded(const std::vector<T>& values, T start, Function function) {
  return std::accumulate(values.begin(), values.end(), start, function);
}
template <class T>
T sum_of(const std::vector<T>& values, T mask = static_cast<T>(~T{0})) {
  return folded(values, T{0}, [&](T a, T b) { return static_cast<T>(a + (b & mask)); });
}
template <class T>
T xor_of(const std::vector<T>& values) {
  return folded(values, T{0}, std::bit_xor<T>());
}
template <class T>
T least(const std::vector<T>& values) {
  return *std::ranges::min_element(values);
}
template <class T>
T greatest(const std::vector<T>& values) {
  return *std::ranges::max_element(values);
}
template <class Signed, class T>
std::vector<Signed> as_signed(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

TEST_CASE("32-bit atomics in global memory") {
  Program program("atomics", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  const std::vector<u32> values = random_bits<u32>(kCount, kSeed);
  const auto source = program.upload(values), olds = program.allocate<u32>(kCount);
  const auto results = program.upload(std::vector<u32>{0, 0, ~0u, 0, 0, 0, ~0u, 0, 0, 3, 2, 0});
  program.call("words", kShape, {results, olds, source});
  CHECK(results[0] == kCount);
  CHECK(results[1] == 0 - sum_of(values));
  CHECK(results[2] == least(values));
  CHECK(results[3] == greatest(values));
  CHECK(static_cast<i32>(results[4]) == least(as_signed<i32>(values)));
  CHECK(static_cast<i32>(results[5]) == greatest(as_signed<i32>(values)));
  CHECK(results[6] == folded(values, ~0u, [](u32 a, u32 b) { return a & (b | 0xff); }));
  CHECK(results[7] == folded(values, 0u, [](u32 a, u32 b) { return a | (b & 0x1010101); }));
  CHECK(results[8] == xor_of(values));
  CHECK(results[9] == (3 + kCount) % 10);
  CHECK(results[10] == (2 + 10 * kCount - kCount) % 10);
  CHECK(std::bit_cast<float>(results[11]) == static_cast<float>(sum_of(values, 15u)));
  std::vector<u32> order(olds.all().begin(), olds.all().end());
  std::ranges::sort(order);
  for (u32 i = 0; i < kCount; ++i) REQUIRE(order[i] == i);
}

TEST_CASE("64-bit atomics in global memory") {
  Program program("atomics", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  const std::vector<u64> values = random_bits<u64>(kCount, kSeed);
  const auto source = program.upload(values);
  const auto results = program.upload(
      std::vector<u64>{0, 0, ~u64{0}, 0, 0, 0, ~u64{0}, 0, 0, 0, std::bit_cast<u64>(1e300), std::bit_cast<u64>(-1.0)});
  program.call("long_words", kShape, {results, source});
  CHECK(results[0] == sum_of(values));
  CHECK(results[1] == 0 - sum_of(values));
  CHECK(results[2] == least(values));
  CHECK(results[3] == greatest(values));
  CHECK(static_cast<i64>(results[4]) == least(as_signed<i64>(values)));
  CHECK(static_cast<i64>(results[5]) == greatest(as_signed<i64>(values)));
  CHECK(results[6] == folded(values, ~u64{0}, [](u64 a, u64 b) { return a & (b | 0xffff); }));
  CHECK(results[7] == folded(values, u64{0}, [](u64 a, u64 b) { return a | (b & 0x100010001); }));
  CHECK(results[8] == xor_of(values));
  CHECK(std::bit_cast<double>(results[9]) == static_cast<double>(sum_of(values, u64{0xfff})));
  CHECK(std::bit_cast<double>(results[10]) == static_cast<double>(least(values) >> 20));
  CHECK(std::bit_cast<double>(results[11]) == static_cast<double>(greatest(values) >> 20));
}

TEST_CASE("atomics in LDS") {
  Program program("atomics", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kItems = 192;
  const std::vector<u32> values = random_bits<u32>(kItems, kSeed);
  const auto source = program.upload(values), results = program.allocate<u32>(8);
  const auto long_results = program.allocate<u64>(6);
  program.call("lds_words", {.block = {kItems, 1, 1}}, {results, long_results, source});
  CHECK(results[0] == sum_of(values));
  CHECK(results[1] == least(values));
  CHECK(static_cast<i32>(results[2]) == std::max(0, greatest(as_signed<i32>(values))));
  CHECK(results[3] == folded(values, 0u, [](u32 a, u32 b) { return a | 1u << (b & 31); }));
  CHECK(std::bit_cast<float>(results[4]) == static_cast<float>(sum_of(values, 7u)));
  CHECK(results[5] == folded(values, ~0u, [](u32 a, u32 b) { return a & (b | 0xf0f); }));
  CHECK(results[6] == xor_of(values));
  CHECK(results[7] == 0 - 3 * kItems);
  std::vector<u64> wide;
  for (const u32 value : values) wide.push_back(u64{value} << 20 | value);
  CHECK(long_results[0] == sum_of(wide));
  CHECK(long_results[1] == least(wide));
  CHECK(long_results[2] == greatest(wide));
  CHECK(long_results[3] == xor_of(wide));
  CHECK(std::bit_cast<double>(long_results[4]) == static_cast<double>(sum_of(values, 255u)));
  CHECK(long_results[5] == u64{3} * kItems * (kItems - 1) / 2);
}

TEST_CASE("loops over compare-and-exchange lose nothing") {
  Program program("atomics", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u64 kPrime = 1000000007;
  const std::vector<double> values = random_between(kCount, kSeed, -1e3, 1e3);
  const auto source = program.upload(values);
  const auto results = program.upload(std::vector<u64>{0, 1});
  const auto head = program.upload(std::vector<u32>{~0u}), next = program.allocate<u32>(kCount);
  program.call("exchange_loops", kShape, {results, head, next, source});
  const auto by_size = [](double a, double b) { return std::abs(a) < std::abs(b); };
  CHECK(std::bit_cast<double>(results[0]) == *std::ranges::max_element(values, by_size));
  u64 product = 1;
  for (u32 i = 0; i < kCount; ++i) product = product * (i + 2) % kPrime;
  CHECK(results[1] == product);
  std::vector<bool> met(kCount, false);
  u32 length = 0;
  for (u32 item = head[0]; item != ~0u; item = next[item], ++length) {
    REQUIRE(item < kCount);
    REQUIRE(!met[item]);
    met[item] = true;
  }
  CHECK(length == kCount);
}

TEST_CASE("a histogram of bytes by LDS and global atomics") {
  Program program("atomics", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kWords = 3000;
  std::vector<u8> in = random_bits<u8>(kWords * 4, kSeed);
  for (u32 i = 0; i < in.size(); i += 3) in[i] = 42;
  const auto source = program.upload(in);
  const auto counts = program.upload(std::vector<u32>(256, 0));
  program.call("histogram", {.grid = {3, 1, 1}, .block = {128, 1, 1}}, {source, counts, kWords});
  for (u32 value = 0; value < 256; ++value) REQUIRE(counts[value] == std::ranges::count(in, value));
}

TEST_CASE("pairs of halves and of bfloat16s are added at once") {
  Program program("atomics", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kItems = 128, kPlaces = 4;
  const std::vector<u32> values = random_bits<u32>(kItems, kSeed);
  const auto source = program.upload(values);
  const auto halves = program.upload(std::vector<_Float16>(2 * kPlaces * 2, 0));
  const auto brain_words = program.upload(std::vector<u16>(2 * kPlaces, 0));
  program.call("packed", {.block = {kItems, 1, 1}}, {halves, brain_words, source});
  // All partial sums are small multiples of a half: exact in any order.
  for (u32 place = 0; place < kPlaces; ++place) {
    i32 low = 0, high = 0, lds_low = 0, lds_high = 0;
    float brain_low = 0, brain_high = 0;
    for (const u32 value : values) {
      const i32 first = static_cast<i32>(value & 7), second = -static_cast<i32>(value >> 8 & 3);
      if ((value >> 20 & 3) == place) low += first, high += second;
      if ((value >> 24 & 3) == place) lds_low += first, lds_high += second;
      if ((value >> 28 & 3) != place) continue;
      brain_low += (value & 1) != 0 ? 1.0f : -1.0f;
      brain_high += (value & 1) != 0 ? 2.0f : 0.5f;
    }
    CHECK(halves[2 * place] == static_cast<_Float16>(low));
    CHECK(halves[2 * place + 1] == static_cast<_Float16>(high));
    CHECK(halves[2 * (kPlaces + place)] == static_cast<_Float16>(lds_low));
    CHECK(halves[2 * (kPlaces + place) + 1] == static_cast<_Float16>(lds_high));
    CHECK(brain_words[2 * place] == std::bit_cast<u32>(brain_low) >> 16);
    CHECK(brain_words[2 * place + 1] == std::bit_cast<u32>(brain_high) >> 16);
  }
}

}  // namespace
}  // namespace monojit::emulator::test
