#pragma once

#include <cstddef>
#include <span>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/matrix_core_bf16.h"

/// MFMAs f32 16x16x32 of bf16 as a GEMV needs them: one tile of a weight that is read once, every token's column. The
/// bits are those of mfma_bf16(); ordinary values take a quicker way to them.
namespace monojit::kernels::reference {

struct WeightStep {
  BFloat16Rows rows;
  BFloat16Range range;

  /// Row r's 32 values begin at first + r * pitch.
  void load(const BFloat16Bits* first, std::ptrdiff_t pitch);
};

struct ActivationStep {
  BFloat16Column column;
  BFloat16Range range;

  void load(const BFloat16Bits* first);
};

/// c += a * b for every column, by `model`.
void add_step(MatrixModel model, const WeightStep& a, std::span<const ActivationStep> b, std::span<MfmaColumn> c);

}  // namespace monojit::kernels::reference
