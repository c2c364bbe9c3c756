#include "tests/kernels/device/k2_mutation.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/kernels/device/damages.h"

// What the waits, barriers, scopes, tags and roundings of K2 are good for: one goes, and a run on weak memory, or the
// check for races on one rank alone, notices.
namespace {

using namespace monojit::tests::damage;
using monojit::kernels::kimi_k3::K2Key;
using monojit::tests::check_k2_mutations;
using monojit::tests::kEvery;
using monojit::tests::Mutation;
using monojit::tests::Surroundings;

constexpr K2Key kOneRow{.tokens = 1, .nblocks = 1};

constexpr Surroundings kOnce[] = {{}};  // no luck in it
constexpr Surroundings kWeakRuns[] = {
    {.memory = "weak", .seed = 1},
    {.memory = "weak", .seed = 2},
    {.memory = "weak", .seed = 4},
};

constexpr int kBarrier = 3;  // instructions of one: itself and its fences
constexpr int kPeers = 8;    // stores of a push

}  // namespace

TEST_CASE("Given one rank of K2 alone, when it ran with 1, 3 and 8 rows, then nothing in it raced", "[k2]") {
  constexpr Surroundings kChecked[] = {{.checks = "races", .alone = 0}};
  check_k2_mutations(kOneRow, kChecked, {});
  check_k2_mutations({.tokens = 3, .nblocks = 4, .reset = true}, kChecked, {});
  check_k2_mutations({.tokens = 8, .nblocks = 8}, kChecked, {});
}

// What comes long before it is waited for in the emulator's order is held up: a chip has an order of its own.
TEST_CASE("Given an activation or a shared part that comes late, when its wait looks only once, then a run notices",
          "[k2]") {
  const Mutation late_activation = {"the activation late", kLateStore, "mailbox.cpp", 1, kEvery, 8};
  const Mutation late_part = {"the shared part late", kLateRows, "context.h", 1, kEvery, 1};
  const Surroundings runs[] = {{.alone = 0, .late = &late_activation}, {.alone = 0, .late = &late_part}};
  const Mutation mutations[] = {
      {"shared down doesn't wait for its activations", kNeverRetried, "mailbox.cpp", 1, kEvery, 16},
      {"up doesn't wait for the shared part", kNeverRetried, "mailbox.cpp", 1, kEvery, 20},
  };
  check_k2_mutations(kOneRow, runs, mutations);
}

TEST_CASE("Given K2 with one row, when a wait looks only once, then a run notices", "[k2]") {
  const Mutation mutations[] = {
      {"slices don't wait for the output projection", kNeverRetried, "mailbox.cpp", 1, kEvery, 0},
      {"the gate doesn't wait for the slices' sums", kNeverRetried, "mailbox.cpp", 1, kEvery, 1},
      {"the mix doesn't wait for the gate", kNeverRetried, "mailbox.cpp", 1, kEvery, 2},
      {"x is normed without other slices' squares", kNeverRetried, "mailbox.cpp", 1, kEvery, 3},
      {"routing doesn't wait for the first logits", kNeverRetried, "mailbox.cpp", 1, kEvery, 4},
      {"routing doesn't wait for the last logits", kNeverRetried, "mailbox.cpp", 1, kEvery, 5},
      {"the shared activation doesn't wait for gate and up", kNeverRetried, "mailbox.cpp", 1, kEvery, 6},
      {"gate and up don't wait for x", kNeverRetried, "mailbox.cpp", 1, kEvery, 7},
      {"the router doesn't wait for x", kNeverRetried, "mailbox.cpp", 1, kEvery, 8},
      {"logits lack other parts", kNeverRetried, "mailbox.cpp", 1, kEvery, 9},
      {"the latent projection doesn't wait for x", kNeverRetried, "mailbox.cpp", 1, kEvery, 10},
      {"latents lack the other part", kNeverRetried, "mailbox.cpp", 1, kEvery, 11},
      {"experts don't wait for the latent row", kNeverRetried, "mailbox.cpp", 1, kEvery, 12},
      {"experts don't wait for the routing", kNeverRetried, "mailbox.cpp", 1, kEvery, 13},
      {"down doesn't wait for intermediates", kNeverRetried, "mailbox.cpp", 1, kEvery, 14},
      {"down doesn't wait for the intermediates' scales", kNeverRetried, "mailbox.cpp", 1, kEvery, 15},
      {"the latent norm doesn't wait for the ranks", kNeverRetried, "mailbox.cpp", 1, kEvery, 17},
      {"the latent norm lacks other slices' squares", kNeverRetried, "mailbox.cpp", 1, kEvery, 18},
      {"up doesn't wait for the normed latent", kNeverRetried, "mailbox.cpp", 1, kEvery, 19},
      {"the output doesn't wait for the ranks", kNeverRetried, "mailbox.cpp", 1, kEvery, 21},
  };
  check_k2_mutations(kOneRow, kOnce, mutations);
}

TEST_CASE("Given K2 with one row, when a scope or the wait in front of a flag goes, then a run notices", "[k2]") {
  const Mutation mutations[] = {
      {"the flag of x overtakes it", kNoWait, "context.cpp", 1, kEvery, 0},
      {"x stays in an L2", kStoreWithoutScope, "context.h", 1, kEvery, 0},
      {"slices poll a cache for the output projection", kLoadWithoutScope, "mailbox.cpp", 16, kEvery, 0, 16},
      {"routed partials stay on the device", kPlainStore, "context.cpp", kPeers, kEvery, 5 * kPeers, kPeers},
  };
  // Caches are empty when a launch begins, and nobody looks at x in front of its flags: no cache has old lines of it. A
  // flag that stays in an L2 comes late at the worst: weights push it out.
  const Mutation harmless[] = {
      {"x is read through caches", kLoadWithoutScope, "context.h", 4, kEvery, 0, 4},
      {"the flag of x stays in an L2", kStoreWithoutScope, "mailbox.cpp", 1, kEvery, 5},
  };
  check_k2_mutations(kOneRow, kWeakRuns, mutations, harmless);
}

TEST_CASE("Given K2 with one row, when a barrier goes, then a run notices", "[k2]") {
  const Mutation mutations[] = {
      {"partial tiles are summed before all are there", kNoBarrier, "row_gemv.cpp", kBarrier, kEvery, 0},
      {"x is read when one wave has seen the flags", kNoBarrier, "early_gemv.cpp", kBarrier, kEvery, 0},
      {"gate and up are summed before all are there", kNoBarrier, "expert_gate_up.cpp", kBarrier, kEvery, 0},
      {"contributions are added before all are there", kNoBarrier, "expert_down.cpp", kBarrier, kEvery, 1},
      {"the normed latent is read when one wave has seen the flags", kNoBarrier, "latent_up.cpp", kBarrier, kEvery, 0},
  };
  // With one row and one block, wave 0 alone writes the reduced output and reads it.
  const Mutation harmless[] = {
      {"the reduced output is read before all of it is there", kNoBarrier, "residual_slice.cpp", kBarrier, kEvery, 0},
  };
  check_k2_mutations(kOneRow, kWeakRuns, mutations, harmless);
}

TEST_CASE("Given K2 with one row, when tag, half or a rounding are wrong, then the reference tells", "[k2]") {
  const Mutation mutations[] = {
      {"the tag takes the whole epoch", kNoMask, "context.cpp", 1, kEvery, 0},
      {"the tag does without the epoch", kNothingLeft, "context.cpp", 1, kEvery, 0},
      {"all epochs use one half", kNothingLeft, "context.cpp", 1, kEvery, 1},
      {"the prefix is cut", kCutBFloat16, "residual_slice.cpp", 1, kEvery, 0},
      {"x is cut", kCutBFloat16, "residual_mix.cpp", 1},
      {"contributions are cut", kCutBFloat16, "expert_down.cpp", 4, 0},
      {"the picks' sum stays f32 on its way", kUnrounded, "expert_down.cpp", 16, 1},
      {"the reduced latent stays f32", kUnrounded, "latent_norm.cpp"},
      {"the shared part is cut", kCutBFloat16, "shared_down.cpp"},
  };
  check_k2_mutations(kOneRow, kOnce, mutations);
}
