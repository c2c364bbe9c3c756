#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/common/reference/fp8.h"
#include "kernels/minimax_m3/k1/reference/norm.h"

namespace monojit::kernels::minimax_m3 {

/// A dot product of FP8 values without any rounding.
struct ExactDot {
  double sum = 0;
  double magnitude = 0;  ///< sum of the products' magnitudes
};

/// Every row of the weight on every token, [tokens][rows]. No order matters: products are multiples of 2^-20 and a
/// row's sum stays below 2^31, so double holds it exactly.
std::vector<ExactDot> exact_projection(std::span<const std::uint8_t> weight, std::size_t rows,
                                       std::span<const QuantisedRow> tokens, reference::Fp8Format format);

/// How far a matrix core's sum may be from the exact one, in units of `magnitude` (specification §6.8).
inline constexpr double kProjectionBound = 0x1p-16;

}  // namespace monojit::kernels::minimax_m3
