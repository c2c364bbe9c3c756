// The vector kernels: each computes a tile and says true, or changes nothing and says false when an operand is outside
// what it handles (Inf, NaN, extreme exponents).
#pragma once

#include <cstddef>

#include "runtime/emulator/numerics/bits.h"
#include "runtime/emulator/numerics/fp8.h"
#include "runtime/emulator/numerics/matrix.h"

namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE {

using TileKernel = bool (*)(const TileArguments&);

/// f16 or bf16, M x M x K, CDNA3's rule.
template <bool kIsBf16, int M, int K>
bool half_tile(const TileArguments& arguments);

/// 8-bit floats, M x M x K, CDNA3's rule.
template <numerics::Fp8 kA, numerics::Fp8 kB, int M, int K>
bool fp8_tile(const TileArguments& arguments);

/// f8f6f4 M x M x K, one rounding for each 32 k.
template <int M, int K>
bool scaled_tile(const TileArguments& arguments);

/// Any shape of f32 or of a narrower float as a chain of f32 fused multiply-adds, f64 as one of f64, i8 exactly. Number
/// of the shape in kTileShapes.
template <std::size_t kShape, Chip kChip>
bool chain_tile(const TileArguments& arguments);

/// The kernel for a shape and model, or null: then matrix_scalar.h does all of the work.
[[nodiscard]] TileKernel find_kernel(std::size_t shape, Chip chip, MatrixModel model);

}  // namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE
