#include "kernels/minimax_m3/k1/emit/half_wave_head.h"

namespace monojit::kernels::minimax_m3 {

namespace {
constexpr int kHalfRotary = kRotaryDim / 2;
}  // namespace

// Lanes beyond the rotary dims don't use the cosines and sines; the clamp keeps their loads inside the table's row.
HeadInputs load_head_inputs(const Context& k, const Uniform<Ptr<BFloat16, Global>>& gamma, const HeadLane& lane) {
  const Int32 position = load(k.positions + lane.token * 2);
  const Int32 pair = min(select(lane.dim < kHalfRotary, lane.dim, lane.dim - kHalfRotary), kHalfRotary - kLaneDims);
  const auto angles = k.cos_sin + (position * kRotaryDim + pair);
  return {.gamma = load<kLaneDims>(gamma + lane.dim),
          .cosine = load<kLaneDims>(angles),
          .sine = load<kLaneDims>(angles + kHalfRotary)};
}

HeadDims poll_head(const Context& k, const Int32& row, const HeadLane& lane) {
  return bitcast<HeadDims>(Vec<Int32, kLaneDims>(k.qkv.poll4(lane.token * k.rows() + row + lane.dim)));
}

HeadDims norm_and_rotate(const Context& k, const HeadDims& e, const HeadInputs& in, const HeadLane& lane) {
  return rotate_head(norm_head(e, in.gamma, k.key.eps), lane.dim, in.cosine, in.sine, kRotaryDim);
}

}  // namespace monojit::kernels::minimax_m3
