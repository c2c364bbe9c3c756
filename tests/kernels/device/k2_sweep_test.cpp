#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/kernels/device/damages.h"
#include "tests/kernels/device/hand_offs.h"
#include "tests/kernels/device/k2_mutation.h"

// Every hand-off of K2 taken away, one by one, as its IR has them: none is without a run that notices. Not among
// ctest's tests: they take minutes. The quick ones of k2_mutation_test.cpp are about some of them, with names.
namespace {

using namespace monojit;
using kernels::kimi_k3::K2Key;
using tests::Mutation;
using tests::Surroundings;

constexpr K2Key kOneRow{.tokens = 1, .nblocks = 1};
constexpr K2Key kThreeRows{.tokens = 3, .nblocks = 1};  // workgroups have several tasks of the experts
constexpr K2Key kEightRows{.tokens = 8, .nblocks = 8};  // every wave has work in every stage

// What comes long before it is waited for, in the emulator's order, hides that nobody waits: it is held up. Places are
// those of the pairs that a kernel of one row puts, and of the rows that any kernel stores.
const Mutation kLateActivation = {
    "the shared activation late", tests::damage::kLateStore, "mailbox.cpp", 1, tests::kEvery, 8};
const Mutation kRestBehindX = {
    "a rest behind the flag of x", tests::damage::kSleepBehindFlag, "context.h", 1, tests::kEvery, 0};
const Mutation kRestBehindLatent = {
    "a rest behind the flag of the latent", tests::damage::kSleepBehindFlag, "context.h", 1, tests::kEvery, 2};
const Mutation kLateX = {"x late", tests::damage::kLateRows, "context.h", 1, tests::kEvery, 0};
const Mutation kLateSharedPart = {"the shared part late", tests::damage::kLateRows, "context.h", 1, tests::kEvery, 1};
const Mutation kLateLatent = {"the normed latent late", tests::damage::kLateRows, "context.h", 1, tests::kEvery, 2};

const Surroundings kWaitRuns[] = {
    {},
    {.alone = 0, .late = &kLateActivation},
    {.alone = 0, .late = &kLateSharedPart},
};
// Each device draws anew how late its stores are: eight draws a run.
const Surroundings kStoreRuns[] = {
    {.memory = "weak", .seed = 2, .late = &kRestBehindX},
    {.memory = "weak", .seed = 2, .late = &kLateSharedPart},
    {.memory = "weak", .seed = 7, .late = &kRestBehindLatent},
    {.memory = "weak", .seed = 2, .late = &kRestBehindLatent},
    {.memory = "weak", .seed = 4, .late = &kRestBehindLatent},
    {.memory = "weak", .seed = 5, .late = &kRestBehindLatent},
    {.memory = "weak", .seed = 6, .late = &kRestBehindLatent},
    {.memory = "weak", .seed = 8, .late = &kRestBehindLatent},
};
// A rank alone races for the pairs that it puts itself: the first rank's come in the first wait of every list, the last
// one's in the last.
const Surroundings kScopeRuns[] = {{.checks = "races", .alone = 0},
                                   {.checks = "races", .alone = kernels::kimi_k3::kRanks - 1}};
// Rows and their flags carry scopes, which are no races: that a flag overtakes other waves' rows, only a run can show.
const Surroundings kBarrierRuns[] = {
    {.checks = "races", .alone = 0},
    {.alone = 0, .late = &kLateX},
    {.alone = 0, .late = &kLateLatent},
};

/// A hand-off that no run of the emulator can miss, though a chip might.
struct Covered {
  std::string_view kind;
  std::string_view file;
  int first = 0;  ///< which of the file's, as Mutation counts
  std::string_view why;
};
constexpr Covered kCovered[] = {
    {"scope of rows stored", "context.h", 1,
     "who stores a task's shared part, workgroup 224 + task mod 32, and who reads it, workgroup task, share an XCD "
     "and its L2, as workgroups are dealt out here (n mod 8); nothing promises that"},
};

const Covered* covered(const tests::HandOff& hand_off) {
  const auto* const found = std::ranges::find_if(kCovered, [&](const Covered& known) {
    return hand_off.place.starts_with(known.kind) && hand_off.without.file == known.file &&
           hand_off.without.first == known.first;
  });
  return found == std::end(kCovered) ? nullptr : found;
}

void sweep(const K2Key& key, std::span<const Surroundings> runs, std::string_view kind) {
  std::vector<Mutation> needed;
  std::vector<Mutation> harmless;
  for (const tests::HandOff& hand_off : tests::hand_offs(tools::build_key(key))) {
    if (!hand_off.place.starts_with(kind)) continue;
    const Covered* const known = covered(hand_off);
    Mutation& without = (known == nullptr ? needed : harmless).emplace_back(hand_off.without);
    without.name = known == nullptr ? hand_off.place : fmt::format("{} ({})", hand_off.place, known->why);
  }
  REQUIRE(!needed.empty());
  tests::check_k2_mutations(key, runs, needed, harmless);
}

}  // namespace

TEST_CASE("Given K2, when any wait looks only once, then a run notices", "[.][k2-sweep]") {
  sweep(kOneRow, kWaitRuns, "wait mailbox");
}

TEST_CASE("Given K2, when any wait in front of a flag goes, then a run notices", "[.][k2-sweep]") {
  sweep(kOneRow, kStoreRuns, "wait for stores");
}

TEST_CASE("Given K2, when any push stays on its device, then a run notices", "[.][k2-sweep]") {
  sweep(kOneRow, kScopeRuns, "scope of a push");
}

TEST_CASE("Given K2, when rows are stored or loaded without their scope, then a run notices", "[.][k2-sweep]") {
  sweep(kOneRow, kScopeRuns, "scope of rows");
}

TEST_CASE("Given K2, when pairs are polled without their scope, then a run notices", "[.][k2-sweep]") {
  sweep(kOneRow, kScopeRuns, "scope of pairs polled");
}

TEST_CASE("Given K2 with three rows, when pairs are put without their scope, then a run notices", "[.][k2-sweep]") {
  sweep(kThreeRows, kScopeRuns, "scope of pairs put");
}

TEST_CASE("Given K2 with eight rows, when any barrier goes, then a run notices", "[.][k2-sweep]") {
  sweep(kEightRows, kBarrierRuns, "barrier");
}
