#pragma once

#include <string_view>

#include "kernels/common/emit/head_rope.h"
#include "kernels/minimax_m3/k1/emit/context.h"

namespace monojit::kernels::minimax_m3 {

/// Four consecutive dims of one token's head, dim .. dim + 3 with dim = 4 (lane mod 32); a half wave holds a token.
/// Half waves without a token repeat another one: all lanes take part in exchanges, `stores` says whose results count.
struct HeadLane {
  Int32 token;
  Int32 dim;
  Bool stores;
};

/// What norm and rotation of a lane's dims need besides the projection.
struct HeadInputs {
  HeadBFloat16 gamma, cosine, sine;
};

/// Puts the loads in flight: weight of the head's norm, cosines and sines of the token's position.
HeadInputs load_head_inputs(const Context& k, const Uniform<Ptr<BFloat16, Global>>& gamma, const HeadLane& lane);

/// Waits for the projection of the lane's dims; `row` is the head's first projection row.
HeadDims poll_head(const Context& k, const Int32& row, const HeadLane& lane);

/// Specification §7.2: norm and rotation.
HeadDims norm_and_rotate(const Context& k, const HeadDims& e, const HeadInputs& in, const HeadLane& lane);

}  // namespace monojit::kernels::minimax_m3
