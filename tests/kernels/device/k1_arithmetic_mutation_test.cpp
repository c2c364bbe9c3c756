#include <algorithm>
#include <cstdint>

#include <catch2/catch_test_macros.hpp>

#include "kernels/minimax_m3/k1/layout.h"
#include "tests/kernels/device/damages.h"
#include "tests/kernels/device/k1_mutation.h"

// Where K1 rounds and in which order it sums: each place is changed once, and the outputs tell.
namespace {

using namespace monojit::tests::damage;
using monojit::kernels::minimax_m3::K1Case;
using monojit::kernels::minimax_m3::KvScale;
using monojit::tests::check_mutations;
using monojit::tests::kEvery;
using monojit::tests::Mutation;
using monojit::tests::requests_case;
using monojit::tests::Surroundings;
namespace m3 = monojit::kernels::minimax_m3;

constexpr Surroundings kOnce[] = {{}};  // no luck in it
constexpr int kOneTask = 5000;          // keys of a request with at most 256 blocks to score: one a workgroup
constexpr int kManyTasks = 20000;       // of one of two requests that have more together: one a wave
constexpr int kLong = 38000;            // of a request whose blocks are shared out
constexpr int kNoTasks = 100;

// Stages that use norm_head() and rotate_head(), in the order of the kernel.
constexpr int kHeadStage = 0;
constexpr int kScoreStage = 1;
constexpr int kSquares = 4;  // fmas of a stage

}  // namespace

TEST_CASE("Given ordinary data, when a value is rounded otherwise, then outputs tell", "[k1]") {
  const Mutation mutations[] = {
      {"the residual is cut, in the lanes' eights", kCutBFloat16, "norm.cpp", 1, 0},
      {"the residual is cut, in the lanes' fours", kCutBFloat16, "norm.cpp", 1, 1},
      {"projections are cut", kCutBFloat16, "gemv.cpp"},
      {"projections stay f32", kUnrounded, "gemv.cpp"},
      {"queries are cut", kCutBFloat16, "head.cpp", 1, kEvery, 0},
      {"the index query is cut", kCutBFloat16, "head.cpp", 1, kEvery, 1},
      {"K is cut before the division", kCutBFloat16, "cache_insert.cpp", 1, kEvery, 0},
      {"K stays f32 before the division", kUnrounded, "cache_insert.cpp", 1, kEvery, 0},
      {"index K is cut before the conversion", kCutBFloat16, "cache_insert.cpp", 1, kEvery, 1},
      {"index K stays f32 before the conversion", kUnrounded, "cache_insert.cpp", 1, kEvery, 1},
      {"the scorer's index query is cut", kCutBFloat16, "index_query.cpp", 1, kEvery, 0},
      {"the mean square is multiplied with a rounded 1 / 6144", kSinglePrecision, "division.h", 1, kEvery, 0},
      {"the activation scale is multiplied with a rounded 1 / 448", kSinglePrecision, "division.h", 1, kEvery, 1},
      {"V's scale is multiplied with a rounded 1 / 448", kSinglePrecision, "division.h", 1, kEvery, 2},
      {"K's scale is multiplied with a rounded 1 / 448", kSinglePrecision, "division.h", 1, kEvery, 3},
  };
  // Projections are bf16: their squares are exact in f32.
  const Mutation harmless[] = {
      {"squares of a head are rounded before they are added", kTwoRoundings, "head_rope.cpp", 3 * kSquares, 0},
  };
  check_mutations(requests_case({.tokens = 3}, {.lengths = {kOneTask}}), kOnce, mutations, harmless);
}

TEST_CASE("Given a score task a wave, when the scorer's index queries are cut, then scores tell", "[k1]") {
  const Mutation own[] = {{"own index queries are cut", kCutBFloat16, "index_query.cpp", 1, kEvery, 1}};
  check_mutations(requests_case({.tokens = 2}, {.lengths = {kManyTasks}}), kOnce, own);
  const Mutation all[] = {{"all heads' index queries are cut", kCutBFloat16, "index_query.cpp", 1, kEvery, 2}};
  check_mutations(requests_case({.tokens = 2, .index_heads = 4, .index_own = 1}, {.lengths = {kLong}}), kOnce, all);
}

TEST_CASE("Given a few elements with long squares in each row, when squares are rounded, then scales tell", "[k1]") {
  constexpr int kThreadElements = 8;
  const Mutation mutations[] = {
      {"squares of the norm are rounded before they are added", kTwoRoundings, "norm.cpp", 2 * kThreadElements, 0},
  };
  K1Case a_case = requests_case({.tokens = m3::kMaxTokens}, {.lengths = {kNoTasks}});
  for (int token = 0; token < m3::kMaxTokens; ++token) {
    const auto row = static_cast<std::size_t>(token) * m3::kHidden;
    a_case.clear_row(token);
    for (int i = 0; i < kThreadElements; ++i) {  // 15 significant bits, squares of 30
      a_case.set("res", row + static_cast<std::size_t>(i), static_cast<float>(129 + 13 * token + 2 * i) * 0x1p-7F);
      a_case.set("ar", row + static_cast<std::size_t>(i), static_cast<float>(131 + 10 * i) * 0x1p-14F);
    }
  }
  check_mutations(a_case, kOnce, mutations);
}

TEST_CASE("Given quotients halfway between FP8 numbers, when a step of the division goes, then bytes tell", "[k1]") {
  constexpr int kSteps = 2;  // the remainder, and the correction by it
  const Mutation mutations[] = {
      {"remainders are of rounded products", kTwoRoundings, "division.h", 1, kEvery, 0},
      {"remainders are of rounded products, in the lanes' fours", kTwoRoundings, "division.h", 1, kEvery, kSteps},
      {"quotients stay as the reciprocal gives them", kNoProduct, "division.h", 1, kEvery, 1},
      {"quotients stay as the reciprocal gives them, in the lanes' fours", kNoProduct, "division.h", 1, kEvery,
       kSteps + 1},
  };
  constexpr float kLargest = 28;                          // becomes 448, a multiple of 16 of it
  constexpr float kHalfway[] = {17, 19, 21, 23, 25, 27};  // of 16 times these, each lies between two FP8 numbers
  constexpr int kPitch = 97;                              // elements fewer in each row: another scale
  K1Case a_case = requests_case({.tokens = m3::kMaxTokens}, {.lengths = {kNoTasks}});
  a_case.fill("g_in", 0);
  for (int token = 0; token < m3::kMaxTokens; ++token) {
    const auto row = static_cast<std::size_t>(token) * m3::kHidden;
    a_case.clear_row(token);
    for (std::size_t i = 0; i < static_cast<std::size_t>(m3::kHidden - kPitch * token); ++i) {
      a_case.set("res", row + i, i == 0 ? kLargest : kHalfway[i % std::size(kHalfway)]);
    }
  }
  check_mutations(a_case, kOnce, mutations);
}

TEST_CASE("Given rotations that cancel, when both of their products are rounded, then queries and scores tell",
          "[k1]") {
  const Mutation mutations[] = {
      {"both products of a head's rotation are rounded", kTwoRoundings, "head_rope.cpp", 1, 1, kHeadStage},
      {"both products of the scorer's rotation are rounded", kTwoRoundings, "head_rope.cpp", 1, 1, kScoreStage},
  };
  // All dims of a head are equal, and so are sine and cosine: what is left in dims 0..31 is one rounding error.
  constexpr std::uint8_t kOne = 0x38;
  constexpr float kCosine = 0.70710678F;
  K1Case a_case = requests_case({.tokens = 1}, {.lengths = {kOneTask}});
  std::ranges::fill(a_case.of<std::uint8_t>("w_qkv"), kOne);
  a_case.fill("s_qkv", 0.01F);
  a_case.fill("cos_sin", kCosine);
  for (const auto* gamma : {"g_q", "g_iq"}) a_case.fill(gamma, 0.30078125F);
  // The scores look at these dims alone.
  const auto keys = a_case.of<std::uint8_t>("index_cache");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i % m3::kHeadDim >= m3::kRotaryDim / 2) keys[i] = 0;
  }
  check_mutations(a_case, kOnce, mutations);
}

TEST_CASE("Given sums that cancel, when their order changes, then projections tell", "[k1]") {
  constexpr int kMiddle = 10;  // an MFMA with a chunk's lower half; the next has the upper one
  const Mutation mutations[] = {
      {"waves are summed in another order", kSumReordered, "gemv_tile.cpp", 2},
      {"chunks are multiplied in another order", kMfmaReordered, "gemv.cpp", 2},
      {"halves of a chunk are multiplied in another order", kMfmaReordered, "gemv.cpp", 2, kEvery, kMiddle, 2},
  };
  K1Case a_case = requests_case({.tokens = 1}, {.lengths = {kNoTasks}});
  a_case.make_order_sensitive(1);
  check_mutations(a_case, kOnce, mutations);
}

TEST_CASE("Given values beyond the FP8 range, when a clamp goes, then caches tell", "[k1]") {
  constexpr int kClamp = 8;  // a minimum and a maximum for each of four values
  const Mutation mutations[] = {
      {"V is not clamped", kNoClamp, "fp8.h", kClamp, kEvery, 0, kClamp},
      {"K is not clamped", kNoClamp, "fp8.h", kClamp, kEvery, kClamp, kClamp},
      {"index K is not clamped", kNoClamp, "fp8.h", kClamp, kEvery, 2 * kClamp, kClamp},
  };
  constexpr float kLarge = 900;
  K1Case a_case = requests_case({.tokens = 1, .kv_scale = KvScale::kStaticOne}, {.lengths = {kNoTasks}});
  a_case.fill("g_k", kLarge);
  a_case.fill("g_ik", kLarge);
  for (int dim = 0; dim < m3::kHeadDim; ++dim) {
    const auto row = static_cast<std::size_t>(m3::kVTask * m3::kHeadDim + dim);
    a_case.set("s_qkv", row, kLarge * a_case.get("s_qkv", row));
  }
  check_mutations(a_case, kOnce, mutations);
}
