#pragma once

#include "ir/kernel.h"
#include "kernels/common/family.h"

namespace monojit::kernels::minimax_m3 {

/// Emits K1: norm, quantisation, projection, heads, cache insert, index scores.
void emit_k1(ir::Kernel& kernel, const BuildKey& key);

}  // namespace monojit::kernels::minimax_m3
