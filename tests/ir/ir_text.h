#pragma once

#include <string>

#include "ir/kernel.h"

namespace monojit::ir::test {

/// Ends `kernel` and gives its LLVM assembly; a failed check when LLVM's verifier objects.
std::string finished_text(Kernel& kernel);
/// The same after LLVM's -O2 passes, in which constants fold.
std::string folded_text(Kernel& kernel);

}  // namespace monojit::ir::test
