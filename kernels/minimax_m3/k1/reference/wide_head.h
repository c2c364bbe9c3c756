#pragma once

#include <array>
#include <span>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/minimax_m3/k1/layout.h"

namespace monojit::kernels::minimax_m3 {

/// A real number that a device computes in f32 to within `slack`.
struct Wide {
  double value = 0;
  double slack = 0;
};

using WideHead = std::array<Wide, kHeadDim>;

/// 1 / sqrt(mean square + eps), with f32's range: sums overflow and denormals flush.
double reciprocal_deviation(std::span<const float> row, double eps);

/// Norm and rotation of one head in double. The f32 chain has at most 12 roundings of 2^-24 and a reciprocal square
/// root within 2^-23, so 2^-20 of the terms' magnitudes covers it in any order.
WideHead wide_norm_and_rotate(std::span<const float> head, std::span<const reference::BFloat16Bits> gamma,
                              std::span<const reference::BFloat16Bits> cos_sin, double eps);

/// The largest magnitude divided by `largest_code`, as the per-token scale: 1 when that is 0 or a NaN is among the
/// values.
Wide wide_scale(const WideHead& head, double largest_code);

/// Values that a device has exactly.
WideHead exact_head(std::span<const float> values);

}  // namespace monojit::kernels::minimax_m3
