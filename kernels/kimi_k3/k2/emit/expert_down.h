#pragma once

#include "kernels/kimi_k3/k2/emit/context.h"

namespace monojit::kernels::kimi_k3 {

/// Specification §8.13, workgroup `rows` < 224: 16 latent rows of every expert's second matrix, weighted and folded in
/// the order of the picks. In: INTER, ISC, routing tables, w2, w2s. Out: LATR on all ranks.
void expert_down(const Context& k, const Uniform<Int32>& rows, const Uniform<Int32>& slots);

}  // namespace monojit::kernels::kimi_k3
