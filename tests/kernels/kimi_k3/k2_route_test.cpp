#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/random.h"
#include "kernels/kimi_k3/k2/reference/route.h"

namespace monojit::kernels::kimi_k3 {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint64_t kSeed = 6;

struct Scores {
  std::vector<float> logits = std::vector<float>(kExperts, 0);
  std::vector<float> bias = std::vector<float>(kExperts, 0);
  Routing run() const { return route(logits, bias); }
};

bool holds(const Routing& routing, int expert) { return std::ranges::count(routing.expert, expert) == 1; }

TEST_CASE("equal scores take the lowest ids, each with a sixteenth") {
  const Routing routing = Scores().run();
  for (int k = 0; k < kTopExperts; ++k) {
    CHECK(routing.expert[static_cast<std::size_t>(k)] == k);
    CHECK(routing.weight[static_cast<std::size_t>(k)] == 0.0625F);
  }
}

TEST_CASE("experts come best first, by sigmoid and bias together, weights by the sigmoid alone") {
  Scores scores;
  scores.logits[700] = 2;
  scores.bias[3] = 1;
  scores.bias[895] = 2;
  const Routing routing = scores.run();
  CHECK(routing.expert[0] == 895);
  CHECK(routing.expert[1] == 3);
  CHECK(routing.expert[2] == 700);
  CHECK(routing.expert[3] == 0);
  CHECK(routing.weight[0] == routing.weight[1]);
  CHECK(routing.weight[2] > routing.weight[1]);
}

TEST_CASE("of two equal scores at the boundary the lower id is in") {
  Scores scores;
  for (int e = 100; e < 115; ++e) scores.bias[static_cast<std::size_t>(e)] = 1;  // 15 sure ones
  scores.bias[50] = 0.5F;
  scores.bias[800] = 0.5F;
  const Routing routing = scores.run();
  CHECK(holds(routing, 50));
  CHECK_FALSE(holds(routing, 800));
}

TEST_CASE("Zero with a minus sign ranks below the other zero") {
  Scores scores;
  for (float& logit : scores.logits) logit = -200;  // sigmoid 0
  for (float& bias : scores.bias) bias = -0.0F;     // 0 + -0 is +0: all equal
  CHECK(scores.run().expert[0] == 0);
  scores.bias[5] = 0x1p-149F;
  CHECK(scores.run().expert[0] == 5);
}

TEST_CASE("an expert with a NaN logit is not taken while 16 others are finite") {
  Scores scores;
  scores.logits[0] = kNan;
  scores.bias[0] = 100;
  const Routing routing = scores.run();
  CHECK_FALSE(holds(routing, 0));
  CHECK(routing.expert[0] == 1);
}

TEST_CASE("all logits NaN: the lowest ids, weights NaN") {
  Scores scores;
  for (float& logit : scores.logits) logit = kNan;
  const Routing routing = scores.run();
  for (int k = 0; k < kTopExperts; ++k) {
    CHECK(routing.expert[static_cast<std::size_t>(k)] == k);
    CHECK(std::isnan(routing.weight[static_cast<std::size_t>(k)]));
  }
}

TEST_CASE("a NaN bias puts an expert last and leaves it its sigmoid") {
  Scores scores;
  for (int e = 15; e < kExperts; ++e) scores.bias[static_cast<std::size_t>(e)] = kNan;
  scores.logits[15] = 3;  // the first of those, taken for want of others
  const Routing routing = scores.run();
  CHECK(routing.expert[15] == 15);
  CHECK(routing.weight[15] > routing.weight[14]);
}

TEST_CASE("sigmoids that are all 0 select by the bias, with NaN weights") {
  Scores scores;
  for (float& logit : scores.logits) logit = -90;
  scores.bias[17] = 1;
  const Routing routing = scores.run();
  CHECK(routing.expert[0] == 17);
  CHECK(std::isnan(routing.weight[0]));
}

TEST_CASE("the weights' sum is taken in the order of the positions") {
  // Sigmoids of about 2^-24 each behind one of 1: one by one they vanish in it, together they would not.
  Scores scores;
  for (float& logit : scores.logits) logit = -100;
  scores.logits[0] = 200;
  for (std::size_t e = 1; e < 16; ++e) scores.logits[e] = -17.0F;
  const Routing routing = scores.run();
  CHECK(routing.weight[0] == 1);
}

TEST_CASE("random scores: the 16 largest by a plain sort") {
  reference::Random random(kSeed, 0);
  for (int round = 0; round < 20; ++round) {
    Scores scores;
    for (float& logit : scores.logits) logit = random.gaussian();
    for (float& bias : scores.bias) bias = random.gaussian() * 0.02F;
    const Routing routing = scores.run();
    std::vector<std::pair<double, int>> order;
    for (int e = 0; e < kExperts; ++e) {
      const auto i = static_cast<std::size_t>(e);
      order.emplace_back(
          -(1 / (1 + std::exp(-static_cast<double>(scores.logits[i]))) + static_cast<double>(scores.bias[i])), e);
    }
    std::ranges::sort(order);
    // Neighbours closer than the roundings may swap: what counts is the set without the last one.
    std::set<int> taken(routing.expert.begin(), routing.expert.end());
    for (std::size_t k = 0; k + 1 < kTopExperts; ++k) CHECK(taken.contains(order[k].second));
    CHECK(taken.size() == kTopExperts);
  }
}

TEST_CASE("the union's slots rise with the expert") {
  Routing first;
  Routing second;
  for (int k = 0; k < kTopExperts; ++k) {
    first.expert[static_cast<std::size_t>(k)] = 895 - k;
    second.expert[static_cast<std::size_t>(k)] = 890 - k;
  }
  const std::vector<int> both = expert_union(std::vector{first, second});
  CHECK(std::ranges::is_sorted(both));
  CHECK(both.size() == 21);
  CHECK(both.front() == 875);
  CHECK(expert_union(std::vector{first, first}).size() == 16);
}

}  // namespace
}  // namespace monojit::kernels::kimi_k3
