#include "kernels/kimi_k3/k2/emit/latent_norm.h"

#include "kernels/kimi_k3/k2/emit/rank_sum.h"

namespace monojit::kernels::kimi_k3 {

namespace {

constexpr int kTokenSums = 32;  // words of `red` a token
constexpr float kLatentReciprocal = 1.0F / kLatent;

}  // namespace

void latent_norm(const Context& k, const Uniform<Int32>& slice) {
  const Region& lmsq = k.scratch_map.lmsq;
  const SliceLane lane = slice_lane(k);
  If(lane.live, [&] {
    const Int32 word = slice * (kSliceColumns / 2) + lane.word;
    const Vec<Float32, 2> rows = extend<float>(round_bf16(sum_over_ranks(k, k.peer_map.latr, lane.token, word)));
    const Float32 squares = wave_sum(rows[0] * rows[0] + rows[1] * rows[1]);
    If(lane_id() == 0, [&] { k.box(lmsq).put(lmsq.at(Int32(slice), lane.token), bitcast<Int32>(squares)); });
    const auto sums = k.lds.red + lane.token * kTokenSums;
    If(lane_id() < kLatentSlices,
       [&] { store(sums + lane_id(), bitcast<Float32>(k.box(lmsq).poll(lmsq.at(lane_id(), lane.token)))); });
    compiler_fence();
    Float32 total = load(sums + Int32(0));
    for (int other = 1; other < kLatentSlices; ++other) total = total + load(sums + Int32(other));
    const Vec<Float32, 2> rstd = rsq(total * kLatentReciprocal + k.key.ln_eps);
    const auto weight = extend<float>(load<2>(at_byte(k.ln_w, word * 4)));
    k.store_shared(k.scratch_map.ln, lane.token * kLatent + word * 2, round_bf16((rows * rstd) * weight));
  });
  k.publish(k.scratch_map.lnrdy, slice);
}

}  // namespace monojit::kernels::kimi_k3
