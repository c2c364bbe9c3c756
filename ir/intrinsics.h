#pragma once

#include "ir/ops.h"

namespace monojit::ir {

/// The llvm::Intrinsic::ID of an operation; 0 (not_intrinsic) for one that is a plain LLVM instruction.
unsigned intrinsic_of(Op op);

}  // namespace monojit::ir
