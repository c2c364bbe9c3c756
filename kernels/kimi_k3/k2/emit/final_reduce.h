#pragma once

#include "kernels/kimi_k3/k2/emit/context.h"

namespace monojit::kernels::kimi_k3 {

/// Specification §8.17: workgroup 200 + j stores slice j of the output.
void final_reduce(const Context& k, const Uniform<Int32>& slice);

}  // namespace monojit::kernels::kimi_k3
