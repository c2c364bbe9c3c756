#pragma once

#include <memory>

#include "ir/kernel.h"
#include "kernels/common/family.h"

namespace llvm {
class Module;
}

namespace monojit::kernels {

/// Emits the body of the kernel that `key` names. It sees nothing else: what is not in the key can't be in the kernel.
using Emitter = void (*)(ir::Kernel&, const BuildKey&);

/// Starts the kernel that `key` names for `target`, with its symbol, arguments and launch bounds, and emits its body.
std::unique_ptr<ir::Kernel> emit_kernel(const BuildKey& key, const ir::Target& target, Emitter emitter);

/// Ends the kernel. The module has to go before the kernel does.
std::unique_ptr<llvm::Module> finish_kernel(ir::Kernel& kernel);

}  // namespace monojit::kernels
