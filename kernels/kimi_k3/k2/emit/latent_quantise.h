#pragma once

#include "kernels/kimi_k3/k2/emit/context.h"

namespace monojit::kernels::kimi_k3 {

/// Specification §8.10, every workgroup: the latent rows as MXFP4. In: LAT. Out, in LDS: latent_words, latent_scales.
void quantise_latent(const Context& k);

}  // namespace monojit::kernels::kimi_k3
