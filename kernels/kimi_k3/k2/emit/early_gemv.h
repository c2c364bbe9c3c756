#pragma once

#include "kernels/kimi_k3/k2/emit/context.h"

namespace monojit::kernels::kimi_k3 {

// Specification §8.7: GEMVs on the normed row, whose weights are in flight while the row is made. In: XROW behind XRDY.

/// Workgroups 56..151, task i: rows 16 i of the shared expert's gate and up. Out: SGU pairs.
void shared_gate_up(const Context& k, const Uniform<Int32>& task);
/// Workgroups 160..187, (task, part): a quarter of K of 16 router rows. Out: logits in RLOG on all ranks.
void router(const Context& k, const Uniform<Int32>& index);
/// Workgroups 188..243, (task, part): a half of K of 16 latent columns. Out: LAT on all ranks.
void latent_down(const Context& k, const Uniform<Int32>& index);

}  // namespace monojit::kernels::kimi_k3
