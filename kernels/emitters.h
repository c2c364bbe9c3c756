#pragma once

#include <memory>

#include "kernels/common/emit/emit_kernel.h"

namespace monojit::kernels {

/// Throws UserError when the family has none.
Emitter find_emitter(const Family& family);

/// The kernel that `key` names, emitted for `target` by its family's emitter.
std::unique_ptr<ir::Kernel> emit(const BuildKey& key, const ir::Target& target);

}  // namespace monojit::kernels
