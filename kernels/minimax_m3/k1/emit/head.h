#pragma once

#include "kernels/minimax_m3/k1/emit/context.h"

namespace monojit::kernels::minimax_m3 {

/// Four consecutive dims of one token's head, d0 .. d0 + 3 with d0 = 4 (lane mod 32); a half wave holds a token. The
/// second half repeats the last token when there is none for it: all lanes take part in exchanges, `stores` says whose
/// results count.
struct HeadLane {
  Int32 token;
  Int32 dim;
  Bool stores;
};

/// Specification §7, one task a workgroup, run by its first wave: per-head norm and rotation, then the output or the
/// cache insert of q heads 0..15, k, v, own index q, index k. In: QKV pairs. Out: q_out, iq_out, caches, scales.
void head_task(Context& k, const Uniform<Int32>& task);

}  // namespace monojit::kernels::minimax_m3
