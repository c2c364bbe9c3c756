#pragma once

#include "kernels/minimax_m3/k1/emit/context.h"

namespace monojit::kernels::minimax_m3 {

// Specification §11: flags behind outputs, for a consumer in the same launch. Called by all threads of the workgroup;
// emit nothing without signal.

/// The new residual of `token` is stored.
void signal_row(const Context& k, const Uniform<Int32>& token);
/// Head task `task` has stored its results of all tokens.
void signal_head(const Context& k, const Uniform<Int32>& task);

}  // namespace monojit::kernels::minimax_m3
