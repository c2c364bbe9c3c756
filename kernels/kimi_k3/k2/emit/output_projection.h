#pragma once

#include "kernels/kimi_k3/k2/emit/context.h"

namespace monojit::kernels::kimi_k3 {

/// Specification §8.2, workgroups 56..255: two or three tasks of 16 rows of this rank's share of the output projection.
/// In: core, w_o. Out: AR pairs on all ranks. All weights are in flight before the rows of core are read.
void output_projection(const Context& k, const Uniform<Int32>& index);

}  // namespace monojit::kernels::kimi_k3
