#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/kimi_k3/k2/reference/k2_case.h"

/// The exact properties of the specification's §16.1 on generated data.
namespace monojit::kernels::kimi_k3 {
namespace {

using reference::bf16_bits;
using reference::bf16_value;
using reference::BFloat16Bits;

constexpr std::uint64_t kSeed = 21;

/// Row `token` of a case as a case of its own: the same weights, in place.
K2Case row_alone(const K2Case& whole, int token) {
  K2Key key = whole.key;
  key.tokens = 1;
  K2Case alone(key);
  for (int rank = 0; rank < kRanks; ++rank) {
    RankMemory& memory = alone.group.memory()[static_cast<std::size_t>(rank)];
    for (const TensorView& from : whole.rank(rank).views()) {
      TensorView& to = memory.view(from.name);
      if (to.bytes.size() == from.bytes.size()) {
        to.bytes = from.bytes;
      } else {
        const std::size_t row = from.bytes.size() / static_cast<std::size_t>(whole.key.tokens);
        std::ranges::copy(from.bytes.subspan(static_cast<std::size_t>(token) * row, row), to.bytes.begin());
      }
    }
  }
  return alone;
}

TEST_CASE("ranks agree on every result, and a row alone has the bits that it has among others") {
  const K2Case whole = K2Case::generated({.tokens = 3, .nblocks = 4}, kSeed);
  const GroupResult result = whole.run();
  for (const RankResult& one : result) {
    CHECK(one.out == result[0].out);
    CHECK(one.prefix == result[0].prefix);
    CHECK(std::ranges::none_of(one.out, [](BFloat16Bits bits) { return std::isnan(bf16_value(bits)); }));
  }
  constexpr int kToken = 2;
  const K2Case alone = row_alone(whole, kToken);
  const GroupResult row = alone.run();
  const auto same_row = [&](const std::vector<BFloat16Bits>& many, const std::vector<BFloat16Bits>& one) {
    return std::ranges::equal(std::span(many).subspan(std::size_t{kToken} * kHidden, kHidden), one);
  };
  CHECK(same_row(result[0].out, row[0].out));
  CHECK(same_row(result[0].prefix, row[0].prefix));
  const ScratchLayout many = whole.scratch_regions();
  const ScratchLayout one = alone.scratch_regions();
  bool same = true;
  for (int word = 0; word < many.route.axes[1].extent; ++word) {
    same = same && whole.scratch_of(result, 3).value(many.route, many.route.at(kToken, word)) ==
                       alone.scratch_of(row, 3).value(one.route, one.route.at(0, word));
  }
  for (int pick = 0; pick < kTopExperts; ++pick) {
    for (int word = 0; word < many.inter.axes[1].extent; ++word) {
      same = same && whole.scratch_of(result, 3).value(many.inter, many.inter.at(kTopExperts * kToken + pick, word)) ==
                         alone.scratch_of(row, 3).value(one.inter, one.inter.at(pick, word));
    }
  }
  CHECK(same);
}

TEST_CASE("the attention's partials are summed in the order of the ranks") {
  K2Case a_case({.tokens = 1, .nblocks = 1, .reset = true});
  const float partials[kRanks] = {0x1p24F, 1, 1, 1, 1, 1, 1, -0x1p24F};
  const float others[kRanks] = {1, 1, 1, 1, 1, 1, 0x1p24F, -0x1p24F};
  for (int rank = 0; rank < kRanks; ++rank) {
    a_case.set(rank, "core", 0, 1);
    a_case.set(rank, "w_o", 10 * kCoreWidth, partials[rank]);
    a_case.set(rank, "w_o", 11 * kCoreWidth, others[rank]);
  }
  const GroupResult result = a_case.run();
  CHECK(result[5].prefix[10] == bf16_bits(0));
  CHECK(result[5].prefix[11] == bf16_bits(6));
}

TEST_CASE("the output's partials are summed in the order of the ranks") {
  K2Case a_case({.tokens = 1, .nblocks = 1, .reset = true});
  a_case.set(0, "core", 0, 1);
  a_case.set(0, "w_o", 0, 1);
  // On every rank one intermediate of the shared expert; what it counts for column 6100 cancels at the end.
  for (int rank = 0; rank < kRanks; ++rank) {
    a_case.set(rank, "w_sgu", 0, 1);
    a_case.set(rank, "w_sgu", std::int64_t{kSharedIntermediate} * kHidden, 1);
    const float weight = rank == 0 ? 0x1p30F : (rank == 7 ? -0x1p30F : 1);
    a_case.set(rank, "w_sd", std::int64_t{3000} * kSharedIntermediate, weight);
  }
  const GroupResult result = a_case.run();
  CHECK(result[2].out[3000] == 0);
  const Region region = a_case.peer_regions().final_;
  CHECK(a_case.peer_of(result, 2).bf16_element(region, region.at(4, 0, 0), 3000) > 0);
}

TEST_CASE("the matrix core's models give different bits and the same layer") {
  const K2Case a_case = K2Case::generated({.tokens = 1, .nblocks = 8, .reset = true}, kSeed);
  const GroupResult cdna3 = a_case.run();
  const GroupResult chain = a_case.run(reference::MatrixModel::kFmaChain);
  const Region ar = a_case.peer_regions().ar;
  std::size_t different = 0;
  double distance = 0;
  double length = 0;
  for (std::size_t i = 0; i < kHidden; ++i) {
    const auto a = static_cast<double>(bf16_value(cdna3[0].prefix[i]));
    const auto b = static_cast<double>(bf16_value(chain[0].prefix[i]));
    distance += (a - b) * (a - b);
    length += a * a;
    different += cdna3[0].prefix[i] != chain[0].prefix[i] ? 1 : 0;
  }
  bool same_bits = true;
  for (std::int64_t pair = 0; pair < ar.count(); ++pair) {
    same_bits = same_bits && a_case.peer_of(cdna3, 0).value(ar, pair) == a_case.peer_of(chain, 0).value(ar, pair);
  }
  CHECK_FALSE(same_bits);
  CHECK(different < kHidden / 20);
  CHECK(distance < 1e-6 * length);
}

TEST_CASE("identical rows share 16 experts, and old prefixes don't matter under reset") {
  K2Case a_case = K2Case::generated({.tokens = 2, .nblocks = 2, .reset = true}, kSeed);
  for (int rank = 0; rank < kRanks; ++rank) {
    for (const char* const name : {"core", "blocks"}) {
      const auto rows = a_case.rank(rank).of<BFloat16Bits>(name);
      std::ranges::copy(rows.first(rows.size() / 2), rows.subspan(rows.size() / 2).begin());
    }
  }
  const std::vector<Routing> tokens = routes(a_case.key, a_case.group.memory());
  CHECK(expert_union(tokens).size() == kTopExperts);
  const auto routed = tokens[0].expert;
  a_case.fill("prefix", NAN);
  CHECK(routes(a_case.key, a_case.group.memory())[1].expert == routed);
}

}  // namespace
}  // namespace monojit::kernels::kimi_k3
