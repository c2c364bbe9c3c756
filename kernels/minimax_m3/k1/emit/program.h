#pragma once

#include "ir/kernel.h"
#include "kernels/common/family.h"

namespace monojit::kernels::minimax_m3 {

/// Emits K1 for one or two tokens: norm, quantisation, projection, heads, cache insert.
void emit_k1(ir::Kernel& kernel, const BuildKey& key);

}  // namespace monojit::kernels::minimax_m3
