#pragma once

#include <array>

#include "kernels/common/reference/matrix_core.h"

namespace monojit::kernels::reference {

/// The A operand of the MFMAs that take 32 k values of bf16, [k][row], and its column of B: the values and 2^e of each,
/// e its exponent, at least -126; 0 for zeros.
struct BFloat16Rows {
  std::array<std::array<float, kMfmaRows>, kMfmaK> value{};
  std::array<std::array<float, kMfmaRows>, kMfmaK> power{};
};
struct BFloat16Column {
  std::array<float, kMfmaK> value{};
  std::array<float, kMfmaK> power{};
};

/// 2^e of a bf16 value as the operands hold it; of infinities and NaNs: themselves.
float bf16_power(float value);

/// Between what powers of two the values of some operands lie, zeros left out.
struct BFloat16Range {
  float least = 1;
  float largest = 1;
  int fraction = 7;  ///< bits of their significands behind the point; fewer in values that come from FP8
};
BFloat16Range range_of(const BFloat16Column& column);

/// c += a * b for one column, by `model`: one MFMA f32 16x16x32 of bf16, or two 16x16x16 on k 0..15 and k 16..31, as
/// `instruction_k` says. `range` holds all of `a` and `b`; a narrow one is quicker.
void mfma_bf16(MatrixModel model, int instruction_k, const BFloat16Rows& a, const BFloat16Column& b,
               const BFloat16Range& range_a, const BFloat16Range& range_b, MfmaColumn& c);

}  // namespace monojit::kernels::reference
