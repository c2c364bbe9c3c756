#include "kernels/kimi_k3/k2/emit/rank_sum.h"

namespace monojit::kernels::kimi_k3 {

Vec<Float32, 2> sum_over_ranks(const Context& k, const Region& region, const Int32& token, const Int32& word) {
  const Int32 first = region.at(Int32(0), token, word);
  const std::int64_t source_pairs = region.count() / kRanks;
  std::vector<PairRun> runs;
  for (int source = 0; source < kRanks; ++source) runs.push_back({first, 1, source * source_pairs});
  const std::vector<Int32> words = k.peer_box(region).poll(runs);
  Vec<Float32, 2> sum = values_of(words[0]);
  for (int source = 1; source < kRanks; ++source) sum = sum + values_of(words[static_cast<std::size_t>(source)]);
  return sum;
}

SliceLane slice_lane(const Context& k) {
  return {.token = min(wave_id(), k.tokens() - 1), .word = lane_id(), .live = wave_id() < k.tokens()};
}

}  // namespace monojit::kernels::kimi_k3
