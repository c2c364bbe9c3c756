#pragma once

#include <span>

#include "tests/kernels/device/k2_bench.h"
#include "tests/kernels/device/mutant.h"

namespace monojit::tests {

/// Mistakes in K2's `key`, launched on eight devices on the same rows, blocks and stale words of a seed. What tells: a
/// fault of the emulator or one of its checks, a health record, or a byte that the reference has otherwise.
void check_k2_mutations(const kernels::kimi_k3::K2Key& key, std::span<const Surroundings> runs,
                        std::span<const Mutation> mutations, std::span<const Mutation> harmless = {});

}  // namespace monojit::tests
