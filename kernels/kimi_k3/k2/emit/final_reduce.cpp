#include "kernels/kimi_k3/k2/emit/final_reduce.h"

#include "kernels/kimi_k3/k2/emit/rank_sum.h"

namespace monojit::kernels::kimi_k3 {

namespace {
constexpr int kSliceWords = kSliceColumns / 2;
}  // namespace

void final_reduce(const Context& k, const Uniform<Int32>& slice) {
  const SliceLane lane = slice_lane(k);
  If(lane.live, [&] {
    const Int32 word = slice * kSliceWords + lane.word;
    const Int32 sum = word_of(sum_over_ranks(k, k.peer_map.final_, lane.token, word));
    store(at_byte(pointer_cast<Int32>(k.out), (lane.token * (kHidden / 2) + word) * 4), sum);
  });
}

}  // namespace monojit::kernels::kimi_k3
