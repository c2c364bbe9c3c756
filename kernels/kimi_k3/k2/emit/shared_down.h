#pragma once

#include "kernels/kimi_k3/k2/emit/context.h"

namespace monojit::kernels::kimi_k3 {

/// Specification §8.14: the shared expert's second matrix. Row groups that belong to other ranks' output columns are
/// pushed at once (workgroups 84..255); this rank's own wait in SHP for the latent's share (workgroups 224..255). In:
/// H, w_sd. Out: FINAL on all ranks; SHP behind SHRDY.
void shared_down(const Context& k);

}  // namespace monojit::kernels::kimi_k3
