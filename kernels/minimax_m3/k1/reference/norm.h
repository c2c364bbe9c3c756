#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/minimax_m3/k1/reference/chip.h"

namespace monojit::kernels::minimax_m3 {

/// One token's activations in FP8: value = byte * scale.
struct QuantisedRow {
  std::vector<std::uint8_t> bytes;  ///< [6144], natural order
  float scale = 1;
};

struct NormedRow {
  std::vector<reference::BFloat16Bits> residual;  ///< [6144], ar + res
  QuantisedRow quantised;
};

/// Residual add, RMS norm with weight 1 + gamma, and FP8 quantisation of one row (specification §6.2 - §6.4), in the
/// kernel's order of sums. All spans have 6144 elements.
NormedRow normalise_row(std::span<const reference::BFloat16Bits> ar, std::span<const reference::BFloat16Bits> res,
                        std::span<const reference::BFloat16Bits> gamma, float eps, const Chip& chip);

/// The sum of squares of a row of 6144, by 768 logical threads of 8 elements, 24 half waves and a half wave of their
/// sums.
float sum_of_squares(std::span<const float> row);

}  // namespace monojit::kernels::minimax_m3
