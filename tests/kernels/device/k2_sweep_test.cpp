#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/kernels/device/hand_offs.h"
#include "tests/kernels/device/k2_mutation.h"

// Every hand-off of K2 taken away, one by one, as its IR has them. Not among ctest's tests: they take an hour. The
// quick ones of k2_mutation_test.cpp are about some of them, with names.
namespace {

using namespace monojit;
using kernels::kimi_k3::K2Key;
using tests::Surroundings;

constexpr K2Key kOneRow{.tokens = 1, .nblocks = 1};
constexpr K2Key kEightRows{.tokens = 8, .nblocks = 8};  // every wave has work in every stage
constexpr Surroundings kRuns[] = {
    {},
    {.memory = "weak", .seed = 2},
    {.memory = "weak", .seed = 4},
    {.memory = "weak", .seed = 1},
};

void sweep(const K2Key& key, std::string_view kind) {
  std::vector<tests::Mutation> mutations;
  for (const tests::HandOff& hand_off : tests::hand_offs(tools::build_key(key))) {
    if (!hand_off.place.starts_with(kind)) continue;
    mutations.push_back(hand_off.without);
    mutations.back().name = hand_off.place;
  }
  REQUIRE(!mutations.empty());
  tests::check_k2_mutations(key, kRuns, mutations);
}

}  // namespace

TEST_CASE("Given K2, when any wait looks only once, then a run notices", "[.][k2-sweep]") { sweep(kOneRow, "wait"); }

TEST_CASE("Given K2, when any push stays on its device, then a run notices", "[.][k2-sweep]") {
  sweep(kOneRow, "scope of a push");
}

TEST_CASE("Given K2, when rows are stored or loaded without their scope, then a run notices", "[.][k2-sweep]") {
  sweep(kOneRow, "scope of rows");
}

TEST_CASE("Given K2, when pairs are put or polled without their scope, then a run notices", "[.][k2-sweep]") {
  sweep(kOneRow, "scope of pairs");
}

TEST_CASE("Given K2 with eight rows, when any barrier goes, then a run notices", "[.][k2-sweep]") {
  sweep(kEightRows, "barrier");
}
