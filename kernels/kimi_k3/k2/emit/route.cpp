#include "kernels/kimi_k3/k2/emit/route.h"

#include "kernels/kimi_k3/k2/emit/activation.h"

namespace monojit::kernels::kimi_k3 {

namespace {

constexpr int kLaneExperts = kExperts / kWaveLanes;  // experts lane, lane + 64, ..
constexpr float kLastScore = -3e38F;
constexpr std::int32_t kSign = std::numeric_limits<std::int32_t>::min();

// Records of the 16 in `red`, [pick] each: key, expert, sigmoid in the order of the ids; sigmoids in the final order.
constexpr int kKeys = 0;
constexpr int kIds = kKeys + kTopExperts;
constexpr int kSigmoids = kIds + kTopExperts;
constexpr int kOrdered = 64;

struct Scores {
  std::vector<Int32> keys;  // rise with the scores, as unsigned numbers
  std::vector<Float32> sigmoids;
};

Int32 expert_of(int i) { return lane_id() + i * kWaveLanes; }

// -0 below +0; NaN was replaced before.
Int32 ordered_key(const Float32& score) {
  const Int32 bits = bitcast<Int32>(score);
  return select(bits < 0, ~bits, bits ^ kSign);
}

Scores poll_scores(const Context& k, const Uniform<Int32>& token) {
  const Region& rlog = k.peer_map.rlog;
  std::vector<PairRun> runs;
  for (int i = 0; i < kLaneExperts; ++i) {
    const Int32 source = udiv(expert_of(i), kRankExperts);
    runs.push_back({rlog.at(source, Int32(token), expert_of(i) - source * kRankExperts)});
  }
  std::vector<Float32> bias;
  for (int i = 0; i < kLaneExperts; ++i) bias.push_back(load(at_byte(k.bias, expert_of(i) * 4)));
  const std::vector<Int32> logits = k.peer_box(rlog).poll(runs);
  Scores scores;
  for (int i = 0; i < kLaneExperts; ++i) {
    const Float32 s = sigmoid(bitcast<Float32>(logits[static_cast<std::size_t>(i)]));
    const Float32 score = s + bias[static_cast<std::size_t>(i)];
    scores.keys.push_back(ordered_key(select(is_nan(score), kLastScore, score)));
    scores.sigmoids.push_back(select(is_nan(s), 0.0F, s));
  }
  return scores;
}

template <class Predicate>
Uniform<Int32> count(const Scores& scores, Predicate&& holds) {
  Uniform<Int32> sum = 0;
  for (const Int32& key : scores.keys) sum = sum + bit_count(ballot(holds(key)));
  return sum;
}

// The 16th largest key, bit by bit.
Uniform<Int32> threshold(const Scores& scores) {
  Var<Uniform<Int32>> found{Uniform<Int32>(0)};
  Var<Uniform<Int32>> bit{Uniform<Int32>(kSign)};
  DoWhile([&] {
    const Uniform<Int32> candidate = found.value() | bit.value();
    const Uniform<Int32> reached = count(scores, [&](const Int32& key) { return uge(key, candidate); });
    found = select(reached >= kTopExperts, candidate, found.value());
    bit = shr_logical(bit.value(), Uniform<Int32>(1));
    return bit.value() != 0;
  });
  return found;
}

// All above the threshold, and of those at it the lowest ids until there are 16; in the order of the ids.
void collect(const Context& k, const Scores& scores, const Uniform<Int32>& limit) {
  const Uniform<Int32> above = count(scores, [&](const Int32& key) { return ugt(key, limit); });
  Uniform<Int32> room = kTopExperts - above;
  Uniform<Int32> taken = 0;
  for (int i = 0; i < kLaneExperts; ++i) {
    const Int32& key = scores.keys[static_cast<std::size_t>(i)];
    const Uniform<Int64> at_limit = ballot(key == limit);
    const Bool chosen = ugt(key, limit) | ((key == limit) & (mbcnt(at_limit) < room));
    const Uniform<Int64> all = ballot(chosen);
    const Int32 place = mbcnt(all, Int32(taken));
    If(chosen, [&] {
      store(k.lds.red + (place + kKeys), bitcast<Float32>(key));
      store(k.lds.red + (place + kIds), bitcast<Float32>(expert_of(i)));
      store(k.lds.red + (place + kSigmoids), scores.sigmoids[static_cast<std::size_t>(i)]);
    });
    room = room - bit_count(at_limit);
    taken = taken + bit_count(all);
  }
}

Int32 word_at(const Context& k, const Int32& index) { return bitcast<Int32>(load(k.lds.red + index)); }

// Position by falling key, rising id: records lie in the order of the ids.
void publish(const Context& k, const Uniform<Int32>& token) {
  const Int32 key = word_at(k, lane_id() + kKeys);
  const Int32 id = word_at(k, lane_id() + kIds);
  const Float32 sigmoid_value = load(k.lds.red + (lane_id() + kSigmoids));
  Int32 position = 0;
  for (int other = 0; other < kTopExperts; ++other) {
    const Int32 other_key = word_at(k, Int32(other + kKeys));
    const Bool before = ugt(other_key, key) | ((other_key == key) & (lane_id() > other));
    position = position + select(before, Int32(1), Int32(0));
  }
  store(k.lds.red + (position + kOrdered), sigmoid_value);
  Float32 total = 0.0F;
  for (int other = 0; other < kTopExperts; ++other) total = total + load(k.lds.red + Int32(other + kOrdered));
  const Region& region = k.scratch_map.route;
  const Int32 known = max(min(id, kExperts - 1), 0);
  k.box(region).put(region.at(Int32(token), position), known);
  k.box(region).put(region.at(Int32(token), position + kTopExperts), bitcast<Int32>(sigmoid_value * (1.0F / total)));
}

}  // namespace

void route(const Context& k, const Uniform<Int32>& token) {
  If(wave_id() == 0, [&] {
    const Scores scores = poll_scores(k, token);
    collect(k, scores, threshold(scores));
    compiler_fence();
    If(lane_id() < kTopExperts, [&] { publish(k, token); });
  });
}

}  // namespace monojit::kernels::kimi_k3
