#include <algorithm>
#include <cstdint>

#include <catch2/catch_test_macros.hpp>

#include "tests/kernels/device/damages.h"
#include "tests/kernels/device/k1_mutation.h"

// What each barrier, wait, fence and scope of K1 is good for: it goes, and a run on weak memory notices.
namespace {

using namespace monojit::tests::damage;
using monojit::kernels::minimax_m3::K1Case;
using monojit::kernels::minimax_m3::Requests;
using monojit::tests::check_mutations;
using monojit::tests::kEvery;
using monojit::tests::Mutation;
using monojit::tests::requests_case;
using monojit::tests::Surroundings;

/// Some of these seeds let late stores or old lines through; the last run follows what orders the accesses.
constexpr Surroundings kWeakRuns[] = {
    {.memory = "weak", .seed = 1},
    {.memory = "weak", .seed = 2},
    {.memory = "weak", .seed = 3},
    {.memory = "weak", .seed = 4},
    {.memory = "weak", .seed = 5, .checks = "races,waits"},
};

constexpr int kBarrier = 3;        // instructions of one: itself and its fences
constexpr int kLook = 2;           // loads of a look at four pairs
constexpr int kWait = 2 * kLook;   // of a wait for them: the first look, and the loop's
constexpr int kOneTask = 5000;     // keys of a request with at most 256 blocks to score: one a workgroup
constexpr int kManyTasks = 20000;  // of one of two requests that have more together: one a wave
constexpr int kLong = 38000;       // of a request whose blocks are shared out

// Lines of mailbox.cpp's loads, in builds that have both.
constexpr int kOnePair = 0;
constexpr int kFourPairs = 1;

/// The first keys of each request's rows end a block that is scored. What lies there before gives NaN.
K1Case new_keys_case(int q_len, const Requests& requests) {
  constexpr int kTokens = 4;  // two waves of a head task
  constexpr std::uint8_t kNanKey = 0x7F;
  K1Case a_case = requests_case({.tokens = kTokens, .signal = true}, requests);
  for (int row = 0; row < kTokens; ++row) {
    const int last = row / q_len * q_len + q_len - 1;
    const std::int64_t key = a_case.of<std::int32_t>("seq_lens")[static_cast<std::size_t>(row)] - 1;
    std::ranges::fill(a_case.index_key(last, key), kNanKey);
  }
  return a_case;
}

}  // namespace

TEST_CASE("Given one token, when a barrier, a wait or a scope goes, then a run notices", "[k1]") {
  const Mutation mutations[] = {
      {"sums of squares are read before all are there", kNoBarrier, "norm.cpp", kBarrier, 0},
      {"maxima are read before all are there", kNoBarrier, "norm.cpp", kBarrier, 1},
      {"the quantised row is read before all of it is there", kNoBarrier, "activations.cpp", kBarrier},
      {"partial tiles are summed before all are there", kNoBarrier, "gemv.cpp", kBarrier},
      {"the index query is read before all of it is there", kNoBarrier, "index_query.cpp", kBarrier, 0, 0},
      {"maxima of tiles are compared before all are there", kNoBarrier, "score.cpp", kBarrier, 0},
      {"projections are never handed over", kNoStore, "mailbox.cpp", 1, kEvery, 0},
      {"projections stay in an L2", kStoreWithoutScope, "mailbox.cpp", 1, kEvery, 0},
      {"heads poll a cache", kLoadWithoutScope, "mailbox.cpp", kWait, kEvery, 0, kWait},
      {"heads look into a cache first", kLoadWithoutScope, "mailbox.cpp", kLook, kEvery, 0, kLook},
      {"scorers poll a cache", kLoadWithoutScope, "mailbox.cpp", kWait, kEvery, kWait, kWait},
      {"heads don't wait for projections", kNeverRetried, "mailbox.cpp", 1, kEvery, 0},
      {"scorers don't wait for projections", kNeverRetried, "mailbox.cpp", 1, kEvery, 1},
  };
  // The next launch reads the scores: the end of this one writes everything back.
  const Mutation harmless[] = {
      {"scores stay in an L2", kStoreWithoutScope, "mailbox.cpp", 1, kEvery, 1},
  };
  check_mutations(requests_case({.tokens = 1}, {.lengths = {kOneTask}}), kWeakRuns, mutations, harmless);
}

TEST_CASE("Given two tokens and a score task a wave, when a barrier or a wait goes, then a run notices", "[k1]") {
  const Mutation mutations[] = {
      {"sums of squares are read before all are there", kNoBarrier, "norm.cpp", kBarrier, 0},
      {"maxima are read before all are there", kNoBarrier, "norm.cpp", kBarrier, 1},
      {"quantised rows are read before all of them are there", kNoBarrier, "activations.cpp", kBarrier},
      {"partial tiles are summed before all are there", kNoBarrier, "gemv.cpp", kBarrier},
      {"index queries are read before all are there", kNoBarrier, "index_query.cpp", kBarrier, 0, 1},
      {"scorers don't wait for projections", kNeverRetried, "mailbox.cpp", 1, kEvery, 2},
  };
  check_mutations(requests_case({.tokens = 2}, {.lengths = {kManyTasks, kManyTasks + 999}}), kWeakRuns, mutations);
}

TEST_CASE("Given three tokens, when a part of the hand-off of X8 goes, then a run notices", "[k1]") {
  constexpr int kX8Loads = 12;
  const Mutation mutations[] = {
      {"sums of squares are read before all are there", kNoBarrier, "norm.cpp", kBarrier, 0},
      {"maxima are read before all are there", kNoBarrier, "norm.cpp", kBarrier, 1},
      {"partial tiles are summed before all are there", kNoBarrier, "gemv.cpp", kBarrier},
      {"the flag of a row overtakes it", kNoWait, "context.cpp"},
      {"the flag of a row stands for one wave", kNoBarrier, "context.cpp", kBarrier},
      {"X8 stays in an L2", kStoreWithoutScope, "norm_task.cpp", 2},
      {"X8 is read through caches", kLoadWithoutScope, "activations.cpp", kX8Loads},
      {"the flag stays in an L2", kStoreWithoutScope, "mailbox.cpp", 1, kEvery, 0},
      {"the flag is polled in a cache", kLoadWithoutScope, "mailbox.cpp", 2, kOnePair},
      {"heads poll a cache", kLoadWithoutScope, "mailbox.cpp", kWait, kFourPairs, 0, kWait},
      {"GEMVs don't wait for X8", kNeverRetried, "mailbox.cpp", 1, kEvery, 0},
  };
  // It orders the compiler alone, and nothing moves up over the loop of the wait anyway.
  const Mutation harmless[] = {
      {"X8 may be read before its flag", kNoFence, "activations.cpp"},
  };
  check_mutations(requests_case({.tokens = 3}, {.lengths = {kOneTask, 100, 3000}}), kWeakRuns, mutations, harmless);
}

TEST_CASE("Given new keys in the one block that needs them, when a part of their hand-off goes, then a run notices",
          "[k1]") {
  constexpr int kCacheStores = 8;  // of V 4 and its scale, of K 1 and its scale, of index K 1
  const Mutation mutations[] = {
      {"the flag of index keys overtakes them", kNoWait, "context.cpp", 1, kEvery, 2},
      {"the flag of index keys stands for one wave", kNoBarrier, "context.cpp", kBarrier, kEvery, 2},
      {"index keys stay in an L2", kPlainStore, "cache_insert.cpp", 1, kEvery, kCacheStores - 1},
      {"index keys are read through caches", kNoFence, "score.cpp", 1, kEvery, 0},
      {"the flag stays in an L2", kStoreWithoutScope, "mailbox.cpp", 1, kEvery, 3},
      {"scorers don't wait for new keys", kNeverRetried, "mailbox.cpp", 1, kEvery, 2},
      {"the flag of a row of X8 overtakes it", kNoWait, "context.cpp", 1, kEvery, 1},
  };
  // What only the kernel behind K1 in the same launch takes, K1's own runs can't miss.
  const Mutation harmless[] = {
      {"the flag of a residual row overtakes it", kNoWait, "context.cpp", 1, kEvery, 0},
      {"the flag of a residual row stands for one wave", kNoBarrier, "context.cpp", kBarrier, kEvery, 0},
      {"the residual stays in an L2", kStoreWithoutScope, "norm.cpp", 2},
      {"queries stay in an L2", kStoreWithoutScope, "head.cpp"},
      {"K and V stay in an L2", kPlainStore, "cache_insert.cpp", kCacheStores - 1, kEvery, 0, kCacheStores - 1},
  };
  constexpr int kTokens = 4;
  check_mutations(new_keys_case(kTokens, {.q_len = kTokens, .lengths = {17 * 128 + 1}}), kWeakRuns, mutations,
                  harmless);
}

TEST_CASE("Given new keys among a score task a wave, when a part of their hand-off goes, then a run notices", "[k1]") {
  const Mutation mutations[] = {
      {"the flag of index keys overtakes them", kNoWait, "context.cpp", 1, kEvery, 2},
      {"the flag of index keys stands for one wave", kNoBarrier, "context.cpp", kBarrier, kEvery, 2},
      {"index keys are read through caches", kNoFence, "score.cpp", 1, kEvery, 1},
      {"scorers don't wait for new keys", kNeverRetried, "mailbox.cpp", 1, kEvery, 5},
  };
  constexpr int kQLen = 2;
  check_mutations(new_keys_case(kQLen, {.q_len = kQLen, .lengths = {158 * 128 + 1, 157 * 128 + 1}}), kWeakRuns,
                  mutations);
}

TEST_CASE("Given a long request and four index heads, when a barrier or a wait goes, then a run notices", "[k1]") {
  constexpr int kLongestUnshared = 288 * 128;
  const Mutation mutations[] = {
      {"own queries are overwritten while others read them", kNoBarrier, "score.cpp", kBarrier, 1},
      {"all queries are read before all are there", kNoBarrier, "index_query.cpp", kBarrier, 1},
      {"scorers don't wait for all queries", kNeverRetried, "mailbox.cpp", 1, kEvery, 3},
  };
  check_mutations(
      requests_case({.tokens = 2, .index_heads = 4, .index_own = 1}, {.lengths = {kLong, kLongestUnshared}}), kWeakRuns,
      mutations);
}

TEST_CASE(
    "Given a long request and a workgroup of own tasks each, when own queries may be overwritten, then none is read",
    "[k1]") {
  // A workgroup with one own task compares its tiles' maxima behind a barrier: all waves have read their queries then.
  const Mutation harmless[] = {
      {"own queries are overwritten while others read them", kNoBarrier, "score.cpp", kBarrier, 1},
  };
  check_mutations(requests_case({.tokens = 2, .index_heads = 4, .index_own = 1}, {.lengths = {kLong, kOneTask}}),
                  kWeakRuns, {}, harmless);
}
