#pragma once

#include "kernels/kimi_k3/k2/emit/context.h"

namespace monojit::kernels::kimi_k3 {

/// Specification §8.9, workgroup 8 + t, for token t. In: SGU. Out: H.
void shared_activation(const Context& k, const Uniform<Int32>& token);

}  // namespace monojit::kernels::kimi_k3
