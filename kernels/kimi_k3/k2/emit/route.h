#pragma once

#include "kernels/kimi_k3/k2/emit/context.h"

namespace monojit::kernels::kimi_k3 {

/// Specification §8.8, workgroup t, for token t, by its first wave: the 16 experts with the largest scores and their
/// weights. In: RLOG, bias. Out: ROUTE.
void route(const Context& k, const Uniform<Int32>& token);

}  // namespace monojit::kernels::kimi_k3
