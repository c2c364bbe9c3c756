#pragma once

#include "ir/kernel.h"
#include "kernels/common/family.h"

namespace monojit::kernels::bump {

void emit_bump(ir::Kernel& kernel, const BuildKey& key);

}  // namespace monojit::kernels::bump
