#pragma once

#include "ir/kernel.h"
#include "kernels/common/family.h"

namespace monojit::kernels::bench {

/// A loop over `rounds` of nothing but the unit's instructions (97 % of all), then one store a thread.
void emit_peak(ir::Kernel& kernel, const BuildKey& key);

}  // namespace monojit::kernels::bench
