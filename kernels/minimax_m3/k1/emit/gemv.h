#pragma once

#include "kernels/minimax_m3/k1/emit/context.h"

namespace monojit::kernels::minimax_m3 {

/// Specification §6.5..6.7, one task a workgroup: 16 rows of the fused projection for all tokens. In: w_qkv, s_qkv, and
/// ar, res, g_in (up to two tokens: the norm in the shadow of the weights) or X8. Out: QKV pairs; up to two tokens
/// h_out of token j from the workgroup of row group j. A wave multiplies 12 chunks of 64 k on one accumulator; the
/// eight waves' sums are added in wave order, then scaled by the activation's scale, then by the row's, then rounded to
/// bf16.
void gemv_task(Context& k, const Uniform<Int32>& row_group);

}  // namespace monojit::kernels::minimax_m3
