#pragma once

#include <string_view>
#include <vector>

#include "kernels/common/workload.h"
#include "kernels/minimax_m3/k1/key.h"

namespace monojit::kernels::minimax_m3 {

/// Throws UserError, naming the tensor and what is wrong with it, when `tensors` are not one for every argument in
/// order, have a wrong dtype or shape, or hold values that K1 must not be launched with (specification §15).
void check_tensors(const K1Key& key, std::string_view arch, const std::vector<Tensor>& tensors);

}  // namespace monojit::kernels::minimax_m3
