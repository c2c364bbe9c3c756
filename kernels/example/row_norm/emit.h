#pragma once

#include "ir/kernel.h"
#include "kernels/common/family.h"

namespace monojit::kernels::example {

/// y = bf16((x * rsq(mean(x^2) + eps)) * g), one wave a row, four rows a workgroup. A lane adds the squares of its
/// elements in rising order, the wave its lanes' sums over lanes xor 32, 16, 8, 4, 2, 1.
void emit_row_norm(ir::Kernel& kernel, const BuildKey& key);

}  // namespace monojit::kernels::example
