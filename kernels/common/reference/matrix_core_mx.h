#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/common/reference/matrix_core.h"
#include "kernels/common/reference/mx.h"

namespace monojit::kernels::reference {

inline constexpr int kMxMfmaK = 128;  // of MFMA scale f32 16x16x128
inline constexpr int kMxMfmaBlocks = kMxMfmaK / kMxBlock;
inline constexpr std::size_t kMxTileBytes = std::size_t{kMfmaRows} * kMxMfmaK / 2;

/// The A operand of one MFMA scale f32 16x16x128 with FP4 data: [block][row] 16 bytes of 32 values, the even one of two
/// in the low nibble, and a scale code for each block of each row.
struct MxRows {
  const std::uint8_t* tile = nullptr;
  std::array<std::array<std::uint8_t, kMfmaRows>, kMxMfmaBlocks> code{};
};

/// 32 values of a column of the B operand, decoded: twice the value of even and of odd k, and the scale's code.
struct MxColumnBlock {
  std::array<std::int8_t, kMxBlock / 2> even{};
  std::array<std::int8_t, kMxBlock / 2> odd{};
  std::uint8_t code = 0;

  /// From four words of eight FP4 values, the first in the lowest nibble.
  void load(const std::uint32_t* words, unsigned scale_code);
};

/// c += a * b for one column of four blocks, by `model`; cdna3: each block's dot product is exact and added with one
/// rounding, blocks in rising k. A scale of code 255 gives NaN.
void mfma_mx(MatrixModel model, const MxRows& a, const MxColumnBlock* b, MfmaColumn& c);

/// Four times the dot products of a block of 16 rows (256 bytes of a tile) with a column's, without scales: exact.
std::array<std::int32_t, kMfmaRows> mx_dots(const std::uint8_t* block, const MxColumnBlock& b);

}  // namespace monojit::kernels::reference
