#pragma once

#include <span>
#include <vector>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/comparing.h"
#include "kernels/minimax_m3/k1/reference/chip.h"
#include "kernels/minimax_m3/k1/reference/norm.h"

namespace monojit::kernels::minimax_m3 {

/// Residual add and norm of one row in double, all spans [6144].
std::vector<double> wide_normalised(std::span<const reference::BFloat16Bits> ar,
                                    std::span<const reference::BFloat16Bits> res,
                                    std::span<const reference::BFloat16Bits> gamma, float eps);

/// Judges a device's scale of a row, and its bytes by that scale. Rows whose largest magnitude is so small that the
/// division falls back (specification §3.2) have no bound: nothing is added for them.
void check_quantised(std::span<const double> normalised, const QuantisedRow& row, const Chip& chip,
                     reference::BoundTracker& tracker);

}  // namespace monojit::kernels::minimax_m3
