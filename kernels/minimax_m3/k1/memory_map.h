#pragma once

#include <vector>

#include "kernels/common/family.h"

namespace monojit::kernels::minimax_m3 {

/// The memory that K1's workgroups hand values over in, as the key uses it: scratch and block scores.
std::vector<MemoryMap> k1_memory_map(const BuildKey& key);

}  // namespace monojit::kernels::minimax_m3
