#include "kernels/minimax_m3/k1/emit/head.h"

#include "kernels/minimax_m3/k1/emit/cache_insert.h"

namespace monojit::kernels::minimax_m3 {

namespace {

constexpr int kDims = 4;  // of a lane
constexpr int kHalfWave = 32;
constexpr int kHalfRotary = kRotaryDim / 2;
using Dims = Vec<Float32, kDims>;

struct HeadInputs {
  Int32 slot;
  Vec<BFloat16, kDims> gamma, cosine, sine;
};

HeadLane head_lane(const Context& k) {
  const Int32 half = lane_id() / kHalfWave;
  return {.token = min(half, k.key.tokens - 1), .dim = lane_id() % kHalfWave * kDims, .stores = half < k.key.tokens};
}

Uniform<Ptr<BFloat16, Global>> head_gamma(const Context& k, const Uniform<Int32>& task) {
  const auto index = select(task == kIndexQTask, k.g_iq, k.g_ik);
  return select(task < kQHeads, k.g_q, select(task == kKTask, k.g_k, index));
}

// Lanes beyond the rotary dims don't use the cosines and sines; the clamp keeps their loads inside the table's row.
HeadInputs load_inputs(const Context& k, const Uniform<Int32>& task, const HeadLane& lane) {
  const Int32 slot = load(k.slot_mapping + lane.token * 2);
  const Int32 position = load(k.positions + lane.token * 2);
  const Int32 pair = min(select(lane.dim < kHalfRotary, lane.dim, lane.dim - kHalfRotary), kHalfRotary - kDims);
  const auto angles = k.cos_sin + (position * kRotaryDim + pair);
  return {.slot = slot,
          .gamma = load<kDims>(head_gamma(k, task) + lane.dim),
          .cosine = load<kDims>(angles),
          .sine = load<kDims>(angles + kHalfRotary)};
}

Dims poll_row(const Context& k, const Uniform<Int32>& task, const HeadLane& lane) {
  const std::array<Int32, kDims> bits =
      k.qkv.poll4(lane.token * projection_rows(k.key.index_heads) + task * kHeadDim + lane.dim);
  return bitcast<Dims>(Vec<Int32, kDims>(bits));
}

// §7.2, first half: (e * rsq(mean of squares + eps)) * (1 + g).
Dims normalise(const Context& k, const Dims& e, const HeadInputs& in) {
  Float32 squares = 0.0F;
  for (const Float32 x : e) squares = fma(x, x, squares);
  squares = half_wave_sum(squares);
  const Float32 rstd = rsq(squares / static_cast<float>(kHeadDim) + k.key.eps);
  return (e * Dims(rstd)) * (extend<float>(in.gamma) + 1.0F);
}

// §7.2, second half: dims d and d + 32 of the first 64 turn together; they lie 8 lanes apart. Only the partner's
// product is rounded before the addition.
Dims rotate(const Dims& n, const HeadLane& lane, const HeadInputs& in) {
  const Dims product = lane_xor(n, kHalfRotary / kDims) * extend<float>(in.sine);
  const Bool first = lane.dim < kHalfRotary;
  const Dims addend = select(first, -product, product);
  return select(lane.dim < kRotaryDim, fma(n, extend<float>(in.cosine), addend), n);
}

}  // namespace

void head_task(Context& k, const Uniform<Int32>& task) {
  const HeadLane lane = head_lane(k);
  const HeadInputs in = load_inputs(k, task, lane);
  sched_barrier();  // in flight before the wait
  const Dims e = poll_row(k, task, lane);
  k.timeline.stamp(Stamp::kHeadArrived);

  If(task == kVTask, [&] { insert_v(k, lane, in.slot, e); }).Else([&] {
    const Dims out = rotate(normalise(k, e, in), lane, in);
    If(task < kQHeads,
       [&] {
         const Int32 row = lane.token * kQHeads + task;
         If(lane.stores, [&] { store(k.q_out + (row * kHeadDim + lane.dim), round_bf16(out)); });
       })
        .ElseIf(task == kKTask, [&] { insert_k(k, lane, in.slot, out); })
        .ElseIf(
            task == kIndexQTask,
            [&] { If(lane.stores, [&] { store(k.iq_out + (lane.token * kHeadDim + lane.dim), round_bf16(out)); }); })
        .Else([&] { insert_index_k(k, lane, in.slot, out); });
  });
}

}  // namespace monojit::kernels::minimax_m3
