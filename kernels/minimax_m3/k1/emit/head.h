#pragma once

#include "kernels/minimax_m3/k1/emit/context.h"

namespace monojit::kernels::minimax_m3 {

/// Specification §7, one task a workgroup, a half wave a token: per-head norm and rotation, then the output or the
/// cache insert of q heads 0..15, k, v, own index q, index k. In: QKV pairs. Out: q_out, iq_out, caches, scales; the
/// flags of all tokens in signal builds.
void head_task(Context& k, const Uniform<Int32>& task);

}  // namespace monojit::kernels::minimax_m3
