// Compiled programs full of atomics, on one host thread and on several: with a fixed seed neither the results nor the
// counts tell how many there are, where the program itself does not depend on the order of its atomics.
#include <bit>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/emulator/programs/program.h"

namespace monojit::emulator::test {
namespace {

constexpr u64 kDataSeed = 27;
constexpr u32 kMostThreads = 4;
constexpr u32 kCount = 32 * 1024;
constexpr Shape kShape{.grid = {kCount / 128, 1, 1}, .block = {128, 1, 1}};

/// What a run leaves behind.
struct Outcome {
  std::vector<u64> words;
  std::vector<DynamicCounts> counts;  ///< of each launch
  bool operator==(const Outcome&) const = default;
};

template <class T>
void keep(Outcome& outcome, const Buffer<T>& results) {
  for (const T word : results.all()) outcome.words.push_back(word);
}

/// Every operation on words shared by the whole grid, then a histogram. Old values, which tell the order, stay out.
Outcome run(const Variant& variant) {
  Program program("atomics", variant);
  Outcome outcome;
  const auto words = program.upload(random_bits<u32>(kCount, kDataSeed)), olds = program.allocate<u32>(kCount);
  const auto results = program.upload(std::vector<u32>{0, 0, ~0u, 0, 0, 0, ~0u, 0, 0, 3, 2, 0});
  outcome.counts.push_back(program.call("words", kShape, {results, olds, words}).counts);
  keep(outcome, results);

  const auto long_words = program.upload(random_bits<u64>(kCount, kDataSeed));
  const auto long_results = program.upload(
      std::vector<u64>{0, 0, ~u64{0}, 0, 0, 0, ~u64{0}, 0, 0, 0, std::bit_cast<u64>(1e300), std::bit_cast<u64>(-1.0)});
  outcome.counts.push_back(program.call("long_words", kShape, {long_results, long_words}).counts);
  keep(outcome, long_results);

  const auto histogram = program.upload(std::vector<u32>(256, 0));
  outcome.counts.push_back(program.call("histogram", kShape, {words, histogram, kCount}).counts);
  keep(outcome, histogram);
  return outcome;
}

TEST_CASE("a seed's results and counts of a grid full of atomics are the same on any number of threads") {
  const ChipLimits chip = GENERATE(kMi355x, kMi300x);
  const u64 seed = GENERATE(0, 1, 99);
  Variant variant{.chip = chip, .optimisation = "O3", .isa = best_host_isa(), .threads = 1, .seed = seed};
  const Outcome one = run(variant);
  REQUIRE(one.counts[0][static_cast<u32>(CountClass::kAll)] > 0);
  for (variant.threads = 2; variant.threads <= kMostThreads; ++variant.threads) {
    INFO(variant.name());
    const Outcome many = run(variant);
    CHECK(many.words == one.words);
    CHECK(many.counts == one.counts);
  }
}

}  // namespace
}  // namespace monojit::emulator::test
