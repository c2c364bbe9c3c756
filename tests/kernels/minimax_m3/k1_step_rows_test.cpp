#include <cstdint>
#include <set>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/k1_case.h"
#include "kernels/minimax_m3/k1/reference/step_rows.h"

// Which blocks a step scores: counts and lists, worked out by hand.
namespace monojit::kernels::minimax_m3 {
namespace {

using Blocks = std::vector<std::int64_t>;

K1Case step(const K1Key& key, int q_len, std::vector<std::int64_t> lengths) {
  K1Case a_case(key);
  a_case.set_requests({.q_len = q_len, .lengths = std::move(lengths)});
  return a_case;
}

std::vector<ScoredBlocks> scored(const K1Case& a_case) { return scored_blocks(a_case.key, a_case.tensors); }

Blocks list(const ScoredBlocks& request) {
  Blocks blocks;
  for (std::int64_t i = 0; i < request.blocks; ++i) blocks.push_back(request.block(i));
  return blocks;
}

Blocks range(std::int64_t first, std::int64_t end, std::int64_t step = 1) {
  Blocks blocks;
  for (std::int64_t block = first; block < end; block += step) blocks.push_back(block);
  return blocks;
}

constexpr std::int64_t kLongest = std::int64_t{1} << 20;

TEST_CASE("up to 16 blocks are not scored, more are but for the pinned ones") {
  struct Expected {
    std::int64_t keys, blocks;
  };
  const Expected expected[] = {{0, 0},       {1, 0},       {128, 0},     {129, 0},     {2048, 0},       {2049, 16},
                               {36864, 287}, {36865, 288}, {65536, 511}, {65537, 512}, {kLongest, 8191}};
  for (const Expected& e : expected) {
    INFO(e.keys << " keys");
    const K1Case a_case = step({}, 1, {e.keys});
    const std::vector<ScoredBlocks> requests = scored(a_case);
    REQUIRE(requests.size() == (e.blocks > 0 ? 1 : 0));
    CHECK(own_score_tasks(requests) == e.blocks);
    CHECK_FALSE(is_long_step(a_case.key, a_case.tensors));
    if (e.blocks > 0) CHECK(list(requests[0]) == range(0, e.blocks));
  }
}

TEST_CASE("first and last blocks are pinned") {
  const K1Case a_case = step({.init_blocks = 3, .local_blocks = 5}, 1, {20 * 128 - 7});
  CHECK(list(scored(a_case).at(0)) == range(3, 15));
  const K1Case all = step({.init_blocks = 8, .local_blocks = 8}, 1, {17 * 128});
  CHECK(list(scored(all).at(0)) == Blocks{8});
}

TEST_CASE("the last row of a request decides for all of its rows") {
  // Keys 2049 .. 2046 of a request of four rows: only the last row sees a 17th block.
  const K1Case a_case = step({.tokens = 12, .signal = true}, 4, {2049, 2048, 4000});
  const std::vector<ScoredBlocks> requests = scored(a_case);
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].first_row == 0);
  CHECK(requests[0].last_row == 3);
  CHECK(list(requests[0]) == range(0, 16));
  CHECK(requests[1].first_row == 8);
  CHECK(requests[1].last_row == 11);
  CHECK(list(requests[1]) == range(0, 31));
  CHECK(own_score_tasks(requests) == 47);
}

TEST_CASE("more than 288 blocks are long, and with four index heads each rank scores every fourth block") {
  for (int own = 0; own < 4; ++own) {
    INFO("own " << own);
    const K1Key key{.tokens = 3, .index_heads = 4, .index_own = own, .init_blocks = 1, .local_blocks = 2};
    const K1Case a_case = step(key, 1, {288 * 128, 288 * 128 + 1, 2049});
    const std::vector<ScoredBlocks> requests = scored(a_case);
    REQUIRE(requests.size() == 3);
    CHECK_FALSE(requests[0].shared);
    CHECK(list(requests[0]) == range(1, 286));
    CHECK(requests[1].shared);
    CHECK(list(requests[1]) == range(own == 0 ? 4 : own, 287, 4));
    CHECK_FALSE(requests[2].shared);
    CHECK(own_score_tasks(requests) == 285 + 14);
    CHECK(is_long_step(a_case.key, a_case.tensors));
  }
  const K1Case one_head = step({.tokens = 1}, 1, {300 * 128});
  CHECK_FALSE(scored(one_head).at(0).shared);
}

TEST_CASE("four ranks together score every block of a long request once") {
  std::multiset<std::int64_t> all;
  for (int own = 0; own < 4; ++own) {
    const K1Case a_case = step({.index_heads = 4, .index_own = own, .init_blocks = 2}, 1, {kLongest});
    for (const std::int64_t block : list(scored(a_case).at(0))) {
      CHECK(block % 4 == own);
      all.insert(block);
    }
  }
  const Blocks want = range(2, 8191);
  CHECK(Blocks(all.begin(), all.end()) == want);
}

TEST_CASE("a long request's scores stand by head, then by own block") {
  CHECK(score_pair(3, 0, 77, false) == 3 * 8192 + 77);
  CHECK(score_pair(3, 2, 77, true) == 3 * 8192 + 2 * 2048 + 19);
  CHECK(score_pair(15, 3, 8191, true) == 16 * 8192 - 1);
}

TEST_CASE("only the blocks of the last 16 keys wait for new ones") {
  const K1Key key{.tokens = 16, .signal = true};
  CHECK(waits_for_new_keys(key, 15, 128 * 16 + 15));
  CHECK_FALSE(waits_for_new_keys(key, 15, 128 * 16 + 16));
  CHECK_FALSE(waits_for_new_keys({.tokens = 1}, 15, 128 * 16));
}

}  // namespace
}  // namespace monojit::kernels::minimax_m3
