#pragma once

#include <memory>

#include "ir/kernel.h"
#include "kernels/common/family.h"

namespace monojit::kernels {

/// Emits the body of the kernel that `key` names. It sees nothing else: what is not in the key can't be in the kernel.
using Emitter = void (*)(ir::Kernel&, const BuildKey&);

/// Starts the kernel that `key` names for `target`, with its symbol, arguments and launch bounds, and emits its body.
std::unique_ptr<ir::Kernel> emit_kernel(const BuildKey& key, const ir::Target& target, Emitter emitter);

}  // namespace monojit::kernels
