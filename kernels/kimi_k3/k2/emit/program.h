#pragma once

#include "ir/kernel.h"
#include "kernels/common/family.h"

namespace monojit::kernels::kimi_k3 {

/// Emits K2: one layer from the attention's output to the MoE's, eight ranks in lockstep.
void emit_k2(ir::Kernel& kernel, const BuildKey& key);

}  // namespace monojit::kernels::kimi_k3
