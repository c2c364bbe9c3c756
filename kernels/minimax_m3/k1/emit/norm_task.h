#pragma once

#include "kernels/minimax_m3/k1/emit/context.h"

namespace monojit::kernels::minimax_m3 {

/// Specification §6.5, above two tokens: one row a workgroup, for all GEMV workgroups. In: ar, res, g_in. Out: h_out,
/// the row of X8, and behind it the pair of its scale; the row's flag in signal builds.
void norm_task(Context& k, const Uniform<Int32>& token);

}  // namespace monojit::kernels::minimax_m3
