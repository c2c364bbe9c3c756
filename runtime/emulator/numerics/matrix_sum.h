// The sums of a matrix core, one output element at a time: the definition that the vector kernels are checked against,
// and their fallback for unusual operands.
#pragma once

#include <cstdint>

#include "runtime/emulator/numerics/matrix_number.h"

namespace monojit::emulator::matrix {

/// What one output element is made of. Element k of a row or column is at [k].
struct Dot {
  const Number* a;
  const Number* b;
  int count;
  std::uint32_t c;             ///< f32 bits
  bool saturate = false;       ///< an overflow gives the largest finite value
  const int* scale = nullptr;  ///< power-of-two exponent of each block of 32 k, or null
};

/// CDNA3's rule for f16, bf16 (group 8, or K) and xf32 (group 4): within a group products are cut towards zero to 24
/// fraction bits of the largest, added, and added to the running value with everything rounded down.
std::uint32_t sum_truncated(const Dot& dot, int group);

/// CDNA3's rule for 8-bit floats, groups of 16: even and odd k are cut and added apart, then rounded down to 24
/// fraction bits of the larger; a running value more than 25 binary places below the largest product counts as zero.
std::uint32_t sum_two_way_truncated(const Dot& dot);

/// One f32 fused multiply-add for each k, rising.
std::uint32_t sum_fused_chain(const Dot& dot);

/// One rounding for each `block` of k, in rising order; the sum of a block, scaled, is exact.
std::uint32_t sum_blocks_exactly(const Dot& dot, int block);

}  // namespace monojit::emulator::matrix
