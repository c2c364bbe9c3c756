#pragma once

#include <optional>

#include "kernels/common/family.h"

namespace monojit::kernels::minimax_m3 {

/// The time stamps of a build with timeline=1 (specification §12). LLVM-free: what the emitter's stamps mean.
std::optional<TimelineWords> k1_timeline(const BuildKey& key);

}  // namespace monojit::kernels::minimax_m3
