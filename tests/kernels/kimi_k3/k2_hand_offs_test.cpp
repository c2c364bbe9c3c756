#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/kimi_k3/k2/reference/hand_offs.h"
#include "kernels/kimi_k3/k2/reference/k2_case.h"

namespace monojit::kernels::kimi_k3 {
namespace {

using Left = ExpectedHandOffs::Left;

constexpr std::uint64_t kSeed = 33;
constexpr std::int32_t kEpoch = 50;
constexpr std::int32_t kLayer = back_slot(3);

/// Expected of one launch, and what a later one of the same data left.
class Replayed {
 public:
  explicit Replayed(const K2Key& key) : case_(K2Case::generated(key, kSeed)) {
    case_.set_launch(kEpoch - 3, kLayer + 1);
    expected_.emplace(key, case_.group.memory(), case_.run());
    case_.set_launch(kEpoch, kLayer);
    const GroupResult result = case_.run();
    for (int rank = 0; rank < kRanks; ++rank) {
      const RankResult& one = result[static_cast<std::size_t>(rank)];
      std::ranges::copy(one.scratch, case_.rank(rank).of<std::byte>("scratch").begin());
      std::ranges::copy(one.peer, case_.rank(rank).of<std::byte>("peer").begin());
    }
  }

  std::uint32_t& word(int rank, std::string_view tensor, std::int64_t offset) const {
    return case_.rank(rank).of<std::uint32_t>(tensor)[static_cast<std::size_t>(offset) / 4];
  }
  std::vector<Comparison> compare(std::string& first, Left left = Left::kAll, std::int32_t epoch = kEpoch) const {
    return expected_->compare(case_.group.memory(), epoch, kLayer, left, first);
  }

 private:
  K2Case case_;
  std::optional<ExpectedHandOffs> expected_;
};

std::vector<std::string> wrong_rows(const std::vector<Comparison>& rows) {
  std::vector<std::string> names;
  for (const Comparison& row : rows) {
    if (row.mismatches > 0) names.push_back(row.name);
    CHECK(row.ok == (row.mismatches == 0));
  }
  return names;
}

constexpr K2Key kKey{.tokens = 2, .nblocks = 3};
constexpr std::int64_t kHalf = kPeerHead + (kEpoch % 2) * kPeerHalf;

TEST_CASE("A launch's hand-offs are those of another epoch and layer but for their tags") {
  for (const bool reduce : {true, false}) {
    const Replayed replayed(K2Key{.tokens = 2, .nblocks = 3, .reduce = reduce});
    std::string first;
    const auto rows = replayed.compare(first);
    CHECK(wrong_rows(rows).empty());
    CHECK(first.empty());
    CHECK(rows.size() == 17 + 5);
    const auto final = std::ranges::find(rows, "final", &Comparison::name);
    REQUIRE(final != rows.end());
    CHECK(final->elements == std::size_t{kRanks} * kRanks * 2 * kHidden);  // a word holds two columns, and has a tag
    CHECK(replayed.compare(first, Left::kPeerHalf).size() == 5);
  }
}

TEST_CASE("A value, a tag and a plain row that differ count for their regions, and the first is named") {
  const Replayed replayed(kKey);
  const ScratchLayout scratch = scratch_layout(kKey.tokens, kKey.nblocks);
  const PeerLayout peer = peer_layout(kKey.tokens);
  replayed.word(1, "scratch", scratch.h.offset + 8) ^= 1U;
  replayed.word(2, "scratch", scratch.ln.offset) ^= 1U;
  replayed.word(3, "peer", kHalf + peer.final_.offset + 4) ^= 1U;
  std::string first;
  CHECK(wrong_rows(replayed.compare(first)) == std::vector<std::string>{"h", "ln", "final"});
  CHECK(first.starts_with("rank1/h: 1 words differ, first [token 0][word 1]: "));
  first.clear();
  CHECK(wrong_rows(replayed.compare(first, Left::kPeerHalf)) == std::vector<std::string>{"final"});
  CHECK(first.starts_with("rank3/final: 1 words differ, first [source 0][token 0][word 0] tag: "));
}

TEST_CASE("What another step left is not taken for this one's") {
  const Replayed replayed(kKey);
  for (const std::int32_t epoch : {kEpoch - 2, kEpoch + 1}) {
    std::string first;
    CHECK(wrong_rows(replayed.compare(first, Left::kPeerHalf, epoch)).size() == 5);
  }
}

TEST_CASE("Pairs that no launch writes are not looked at, nor is the other half") {
  const Replayed replayed(kKey);
  const ScratchLayout scratch = scratch_layout(kKey.tokens, kKey.nblocks);
  replayed.word(0, "scratch", scratch.rpart.offset) ^= 1U;  // part 0 of task 0
  replayed.word(0, "peer", kPeerHead + kPeerHalf + 8) ^= 1U;
  std::string first;
  CHECK(wrong_rows(replayed.compare(first)).empty());
}

}  // namespace
}  // namespace monojit::kernels::kimi_k3
