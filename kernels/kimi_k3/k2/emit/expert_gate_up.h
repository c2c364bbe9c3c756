#pragma once

#include "kernels/kimi_k3/k2/emit/context.h"

namespace monojit::kernels::kimi_k3 {

/// Specification §8.12, every workgroup: gate and up of the step's experts on the quantised latent, activated and
/// quantised. A task is 32 intermediates of a slot's expert. In: latent and routing tables in LDS, w13, w13s. Out:
/// INTER, ISC.
void expert_gate_up(const Context& k, const Uniform<Int32>& slots);

}  // namespace monojit::kernels::kimi_k3
