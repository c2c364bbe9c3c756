#pragma once

#include "kernels/kimi_k3/k2/emit/context.h"

namespace monojit::kernels::kimi_k3 {

/// Specification §8.15, workgroup 56 + j, a slice of 128 latent columns: the experts' latent results summed over the
/// ranks, then RMS norm. In: LATR, ln_w. Out: LN behind LNRDY.
void latent_norm(const Context& k, const Uniform<Int32>& slice);

}  // namespace monojit::kernels::kimi_k3
