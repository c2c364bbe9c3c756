#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "kernels/kimi_k3/k2/reference/compare.h"
#include "kernels/kimi_k3/k2/reference/k2_case.h"

namespace monojit::kernels::kimi_k3 {
namespace {

using reference::BFloat16Bits;
using reference::MatrixModel;

constexpr std::uint64_t kSeed = 33;

/// Does to the group's memory what a right kernel does.
void launch(const K2Case& a_case, const GroupResult& result) {
  for (int rank = 0; rank < kRanks; ++rank) {
    const RankResult& one = result[static_cast<std::size_t>(rank)];
    std::ranges::copy(one.prefix, a_case.rank(rank).of<BFloat16Bits>("prefix").begin());
    std::ranges::copy(one.out, a_case.rank(rank).of<BFloat16Bits>("out").begin());
    std::ranges::copy(one.scratch, a_case.rank(rank).of<std::byte>("scratch").begin());
    std::ranges::copy(one.peer, a_case.rank(rank).of<std::byte>("peer").begin());
  }
}

const Comparison& row(const std::vector<Comparison>& rows, std::string_view name) {
  return *std::ranges::find(rows, name, &Comparison::name);
}

TEST_CASE("what the reference leaves behind is right, by the wide reference too") {
  for (const K2Key& key :
       {K2Key{.tokens = 2, .nblocks = 3}, K2Key{.tokens = 1, .nblocks = 2, .reduce = false, .reset = true}}) {
    const K2Case a_case = K2Case::generated(key, kSeed);
    const GroupExpectation expected(key, a_case.group.memory());
    launch(a_case, expected.results());
    for (const Comparison& one : expected.compare(a_case.group.memory())) {
      INFO(one.name << ": " << one.mismatches << " differ, error " << one.max_error << " of " << one.bound);
      CHECK(one.ok);
    }
    CHECK(expected.differences(a_case.group.memory()).empty());
  }
}

TEST_CASE("what overflows in the reference is right, by the wide reference too") {
  constexpr float kHuge = 3e38F;        // sums of its products run into infinities on their way
  constexpr float kHugeSquare = 1e25F;  // its square is infinity, itself it is in range
  struct Given {
    const char* name;
    float value;
  };
  const K2Key key{.tokens = 1, .nblocks = 1};
  for (const auto& [name, value] : {Given{"core", kHuge}, Given{"prefix", kHugeSquare},
                                    Given{"prefix", std::numeric_limits<float>::infinity()}, Given{"blocks", kHuge}}) {
    K2Case a_case = K2Case::generated(key, kSeed);
    a_case.fill(name, value);
    const GroupExpectation expected(key, a_case.group.memory());
    launch(a_case, expected.results());
    for (const Comparison& one : expected.compare(a_case.group.memory())) {
      INFO(name << " of " << value << ": " << one.name << ": error " << one.max_error << " of " << one.bound);
      CHECK(one.ok);
    }
  }
}

TEST_CASE("results by another model of the matrix core differ in bits and stay within the wide bounds") {
  const K2Key key{.tokens = 1, .nblocks = 1};
  const K2Case a_case = K2Case::generated(key, kSeed);
  const GroupExpectation expected(key, a_case.group.memory());
  launch(a_case, a_case.run(MatrixModel::kExact));
  const std::vector<Comparison> rows = expected.compare(a_case.group.memory());
  CHECK(row(rows, "ar").mismatches > 0);
  CHECK(row(rows, "rlog").mismatches > 0);
  for (const Comparison& one : rows) {
    INFO(one.name << ": error " << one.max_error << " of " << one.bound);
    CHECK(one.max_error <= one.bound);
  }
}

TEST_CASE("one flipped bit anywhere is found and told with its place") {
  const K2Key key{.tokens = 1, .nblocks = 1};
  const K2Case a_case = K2Case::generated(key, kSeed);
  const GroupExpectation expected(key, a_case.group.memory());
  launch(a_case, expected.results());

  const auto scratch = a_case.rank(3).of<std::uint32_t>("scratch");
  const Region h = a_case.scratch_regions().h;
  const std::size_t tag_word = static_cast<std::size_t>(h.offset) / 4 + 2 * 17 + 1;
  scratch[tag_word] ^= 1U;
  const std::vector<std::string> lines = expected.differences(a_case.group.memory());
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Catch::Matchers::ContainsSubstring("rank3/h: 1 words differ, first [token 0][word 17] tag"));
  scratch[tag_word] ^= 1U;

  scratch[scratch.size() - 1] ^= 4U;
  a_case.rank(5).of<std::uint8_t>("peer")[3] ^= 1U;
  a_case.rank(6).of<BFloat16Bits>("w_up")[12] ^= 1U;
  a_case.rank(7).of<std::int32_t>("health")[0] = 1;
  a_case.rank(2).of<BFloat16Bits>("out")[7000] ^= 1U;
  const std::vector<Comparison> rows = expected.compare(a_case.group.memory());
  for (const char* const name : {"scratch", "peer", "inputs", "health", "out"}) {
    CHECK_FALSE(row(rows, name).ok);
    CHECK(row(rows, name).mismatches == 1);
  }
  CHECK(row(rows, "h").ok);
}

}  // namespace
}  // namespace monojit::kernels::kimi_k3
