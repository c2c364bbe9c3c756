#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/kernels/device/hand_offs.h"
#include "tests/kernels/device/k2_mutation.h"

// Every hand-off of K2 taken away, one by one. The quick tests of k2_mutation_test.cpp are about some of them.
namespace {

using namespace monojit;
using kernels::kimi_k3::K2Key;
using tests::Surroundings;

constexpr K2Key kOneRow{.tokens = 1, .nblocks = 1};
constexpr Surroundings kRuns[] = {
    {},
    {.memory = "weak", .seed = 2},
    {.memory = "weak", .seed = 4},
    {.memory = "weak", .seed = 1},
};

std::vector<tests::Mutation> named(const K2Key& key) {
  std::vector<tests::Mutation> mutations;
  for (const tests::HandOff& hand_off : tests::hand_offs(tools::build_key(key))) {
    mutations.push_back(hand_off.without);
    mutations.back().name = hand_off.place;
  }
  return mutations;
}

}  // namespace

TEST_CASE("Given K2 with one row, when any of its hand-offs goes, then a run notices", "[.][k2-sweep]") {
  tests::check_k2_mutations(kOneRow, kRuns, named(kOneRow));
}
