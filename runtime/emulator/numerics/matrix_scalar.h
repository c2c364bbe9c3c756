// Any MFMA, element by element: slow, and right for every operand.
#pragma once

#include "runtime/emulator/numerics/matrix.h"
#include "runtime/emulator/numerics/matrix_shape.h"
#include "runtime/emulator/numerics/matrix_sum.h"

namespace monojit::emulator::matrix {

/// One output element of an MFMA with elements of type `a`, by the model's rule for them.
[[nodiscard]] std::uint32_t sum_products(Element a, MatrixModel model, const Dot& dot);

/// Everything but f64 and i8. cbsz, abid and blgp of the forms other than f8f6f4 must have been applied already.
void scalar_tile(const TileShape& shape, Chip chip, MatrixModel model, const TileArguments& arguments);

}  // namespace monojit::emulator::matrix
