// Any MFMA, element by element: slow, and right for every operand.
#pragma once

#include "runtime/emulator/numerics/matrix.h"
#include "runtime/emulator/numerics/matrix_shape.h"

namespace monojit::emulator::matrix {

/// Everything but f64 and i8. cbsz, abid and blgp of the forms other than f8f6f4 must have been applied already.
void scalar_tile(const TileShape& shape, Chip chip, MatrixModel model, const TileArguments& arguments);

}  // namespace monojit::emulator::matrix
