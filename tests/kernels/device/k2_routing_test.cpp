#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/kimi_k3/k2/reference/generate.h"
#include "tests/kernels/device/k2_directed.h"

// Which experts K2 picks where scores tie, are no numbers, or run out of range, and how many experts' weights a step
// reads.
namespace {

using namespace monojit;
using namespace kernels::kimi_k3;

constexpr std::uint64_t kSeed = 91;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kHuge = 3e38F;

/// Eight rows that a column of x tells apart, so that each row's logits are one column of the router's weights.
class Router {
 public:
  Router() : launch_({.tokens = kMaxTokens, .nblocks = 1, .reset = true}) {
    for (int token = 0; token < kMaxTokens; ++token) launch_.set_x(token, column(token));
  }

  tests::DirectedK2& launch() { return launch_; }

  void set_logit(int token, int expert, float value) const {
    launch_.set_all("w_gate", std::int64_t{expert} * kHidden + column(token), value / 2);  // x is 2
  }
  /// Infinity from one quarter of K, and minus infinity from another. `token` must have its second column.
  void set_nan_logit(int token, int expert) const {
    launch_.set_all("w_gate", std::int64_t{expert} * kHidden + column(token), kHuge);
    launch_.set_all("w_gate", std::int64_t{expert} * kHidden + second_column(token), -kHuge);
  }
  void add_second_column(int token) const { launch_.set_x(token, second_column(token)); }
  std::vector<int> picks(int token) const {
    std::vector<int> ids;
    for (int pick = 0; pick < kTopExperts; ++pick) ids.push_back(static_cast<int>(word(token, pick)));
    return ids;
  }
  float weight(int token, int pick) const { return std::bit_cast<float>(word(token, kTopExperts + pick)); }

 private:
  static std::int64_t column(int token) { return 100 + 700 * token; }
  static std::int64_t second_column(int token) { return (column(token) + kHidden / 2) % kHidden; }
  std::uint32_t word(int token, int index) const {
    const kernels::Region& route = launch_.regions().route;
    return launch_.scratch(6).value(route, route.at(token, index));
  }

  tests::DirectedK2 launch_;
};

/// `count` numbers from `first` on.
std::vector<int> from(int first, int count) {
  std::vector<int> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}
std::vector<int> with(std::vector<int> ids, int last) {
  ids.push_back(last);
  return ids;
}

}  // namespace

TEST_CASE("Given ties, NaNs and sigmoids of zero, when K2 ran, then picks and weights follow the rules", "[k2]") {
  enum Row : std::uint8_t { kZeros, kBoundary, kTwoNans, kAllNan, kFewNumbers, kNoSigmoid, kDescending, kLastIds };
  Router router;
  router.launch().set_all("bias", 0, kNan);  // with a number as its logit, expert 0 is the last but keeps its sigmoid
  router.launch().set_all("bias", 3, -0.25F);
  for (int i = 0; i < 15; ++i) router.set_logit(kBoundary, 400 + i, 4);
  for (const int expert : {200, 300}) router.set_logit(kBoundary, expert, 2);
  for (const int row : {kTwoNans, kAllNan, kFewNumbers}) router.add_second_column(row);
  for (const int expert : {7, 8}) router.set_nan_logit(kTwoNans, expert);
  for (int expert = 0; expert < kExperts; ++expert) {
    router.set_nan_logit(kAllNan, expert);
    if (expert != 0 && (expert < 500 || expert >= 515)) router.set_nan_logit(kFewNumbers, expert);
    router.set_logit(kNoSigmoid, expert, -100);
  }
  for (int i = 0; i < kTopExperts; ++i) {
    router.set_logit(kDescending, 850 - 50 * i, static_cast<float>(kTopExperts - i) / 4);
    router.set_logit(kLastIds, kExperts - 1 - i, 1);
  }
  CHECK(router.launch().disagreement() == "");

  const std::vector<int> lowest = {1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};  // without 0 and 3
  CHECK(router.picks(kZeros).size() == kTopExperts);
  CHECK(router.picks(kBoundary) == with(from(400, 15), 200));
  CHECK(router.picks(kTwoNans) == std::vector<int>{1, 2, 4, 5, 6, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19});
  CHECK(router.picks(kAllNan) == from(0, kTopExperts));
  CHECK(router.picks(kFewNumbers) == with(from(500, 15), 0));
  CHECK(router.picks(kNoSigmoid) == lowest);
  for (int i = 0; i < kTopExperts; ++i) {
    CHECK(router.picks(kDescending)[static_cast<std::size_t>(i)] == 850 - 50 * i);
    CHECK(router.weight(kTwoNans, i) == 0.0625F);
    CHECK(router.weight(kFewNumbers, i) == 0.0625F);
    CHECK(std::isnan(router.weight(kAllNan, i)));
    CHECK(std::isnan(router.weight(kNoSigmoid, i)));
  }
  CHECK(router.picks(kLastIds) == from(kExperts - kTopExperts, kTopExperts));
}

TEST_CASE("Given rows that pick no expert twice, and then all the same, when K2 ran, then 128 and 16 experts agree",
          "[k2]") {
  Router router;
  const auto expert_of = [](int token, int i) { return (token + kMaxTokens * i) * 7; };  // 128 different ones
  std::vector<int> experts;
  for (int token = 0; token < kMaxTokens; ++token) {
    for (int i = 0; i < kTopExperts; ++i) {
      experts.push_back(expert_of(token, i));
      router.set_logit(token, experts.back(), static_cast<float>(1 + i % 5));
    }
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    const RankMemory& memory = router.launch().rank(rank);
    const K2Key key{.tokens = kMaxTokens, .nblocks = 1};
    for (const auto* name : {"w_ld", "w_up", "w_sgu", "w_sd"}) generate_tensor(key, kSeed, rank, memory.view(name));
    generate_experts(kSeed, rank, memory, experts);
  }
  CHECK(router.launch().disagreement() == "");
  std::vector<int> all;
  for (int token = 0; token < kMaxTokens; ++token) {
    for (const int expert : router.picks(token)) all.push_back(expert);
  }
  std::ranges::sort(all);
  std::ranges::sort(experts);
  CHECK(all == experts);
  CHECK(std::ranges::adjacent_find(all) == all.end());

  for (int token = 1; token < kMaxTokens; ++token) {  // all rows become the first
    router.launch().set(0, "core", std::int64_t{token} * kCoreWidth + token, 0);
    router.launch().set(0, "core", std::int64_t{token} * kCoreWidth, 4);
  }
  CHECK(router.launch().disagreement() == "");
  for (int token = 0; token < kMaxTokens; ++token) CHECK(router.picks(token) == router.picks(0));
  const auto out = router.launch().rank(3).of<std::uint16_t>("out");
  CHECK(std::ranges::equal(out.first(kHidden), out.last(kHidden)));
}
