#pragma once

#include "kernels/kimi_k3/k2/emit/context.h"

namespace monojit::kernels::kimi_k3 {

/// Specification §8.16, workgroup j < 56: 16 of this rank's output columns from the normed latent, added to the shared
/// expert's share. In: LN, SHP, w_up. Out: FINAL on all ranks.
void latent_up(const Context& k, const Uniform<Int32>& task);

}  // namespace monojit::kernels::kimi_k3
