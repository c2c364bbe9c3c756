#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/common/reference/bfloat16.h"

namespace monojit::kernels::reference {

inline constexpr double kF32Unit = 0x1p-24;  ///< largest relative error of one f32 rounding

/// A dot product in double, in no order that matters, and the sum of the products' magnitudes.
struct WideDot {
  double sum = 0;
  double magnitude = 0;
};

/// Rows of a bf16 weight times one activation row: exact products, sums with 53 bits.
WideDot wide_dot(const BFloat16Bits* weights, const BFloat16Bits* activations, std::size_t length);

/// How far any of the matrix core's models may be from the exact sum, in units of the magnitude, when a wave chains
/// `mfmas` instructions of `k` inputs and sums are then added `additions` times. A chain of fused multiply-adds is the
/// worst of them with one rounding an input; 34 units an MFMA of 32 inputs is what groups with 24 fraction bits lose.
constexpr double matrix_bound(int mfmas, int k, int additions) {
  const int units = k + 2;
  return kF32Unit * (mfmas * units + additions);
}

}  // namespace monojit::kernels::reference
