// Sparse matrix products (v_smfmac_*): A with two of every four elements along k stored, B and D dense; D += A * B.
//
// Which two, an index register tells: two bits for each stored element of A, in the same lane and order. Where elements
// lie is in sparse_shape.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/emulator/numerics/matrix.h"

namespace monojit::emulator {

/// Operands as in TileArguments. `d` may overlap a, b and the index: everything is read before anything is written.
struct SparseTileArguments {
  const std::uint32_t* a;      ///< first row of A's tuple
  const std::uint32_t* b;      ///< first row of B's tuple
  const std::uint32_t* index;  ///< the index register
  std::uint32_t* d;            ///< first row of the tuple that is C and D
  std::uint8_t cbsz = 0;       ///< not 0: the first set of indices, whatever abid says
  std::uint8_t abid = 0;       ///< which set of indices of the register, where it has several
  bool fp16_ovfl = false;      ///< MODE.FP16_OVFL: an overflowing result becomes the largest one
};

using SparseTileFunction = void (*)(const SparseTileArguments&);

/// The function for a sparse product, by its assembler mnemonic ("v_smfmac_f32_16x16x32_f16"); null if the chip has
/// none of that name. Sums are those of the dense product of the decompressed A under the same model; products that A
/// does not store take no part at all. (How the chips group the terms of a sparse product is not public.)
[[nodiscard]] SparseTileFunction find_sparse_tile(std::string_view mnemonic, Chip chip, MatrixModel model);

}  // namespace monojit::emulator
