#pragma once

#include "kernels/kimi_k3/k2/key.h"
#include "kernels/kimi_k3/k2/reference/group.h"

namespace monojit::kernels::kimi_k3 {

/// Throws one UserError with every reason, rank and tensor named, why K2 must not be launched on these tensors: one
/// missing or of a wrong dtype or shape; strides of `blocks` that are no multiples of 4 or reach past its end; a rank
/// that is not its place's; ranks whose epochs or layers differ; a tag that memory of before already holds.
void check_group(const K2Key& key, const GroupMemory& memory);

}  // namespace monojit::kernels::kimi_k3
