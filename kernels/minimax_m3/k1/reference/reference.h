#pragma once

#include <string_view>
#include <vector>

#include "kernels/common/reference/matrix_core.h"
#include "kernels/common/workload.h"
#include "kernels/minimax_m3/k1/key.h"

namespace monojit::kernels::minimax_m3 {

/// What K1 leaves behind, bit for bit: `before` with its outputs replaced. `before` has one tensor for every argument.
/// Time stamps are not modelled: tl keeps its bytes. Throws UserError for an unknown chip.
std::vector<Tensor> run_reference(const K1Key& key, std::string_view arch, std::vector<Tensor> before,
                                  reference::MatrixModel model = reference::MatrixModel::kCdna3);

}  // namespace monojit::kernels::minimax_m3
