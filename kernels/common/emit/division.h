#pragma once

#include "ir/dsl.h"

namespace monojit::kernels {

/// x / d by a reciprocal that many divisions share: r has to be 1 / d, correctly rounded. Equal to the correctly
/// rounded quotient as long as r and the results are normal numbers.
template <class T>
T divide(const T& x, const T& d, const T& r) {
  const T quotient = x * r;
  return ir::fma(ir::fma(-quotient, d, x), r, quotient);
}

/// The correctly rounded quotient of x by a number known at build time, of at most 24 bits with a small odd part (448,
/// 6144): in double, the product with the reciprocal is off by at most 2^-53 of itself, nearer than any such quotient
/// comes to the middle of two floats without being it. A third of a division's instructions.
inline ir::Float32 divide_by(const ir::Float32& x, double d) {
  return ir::convert<float>(ir::convert<double>(x) * (1.0 / d));
}

}  // namespace monojit::kernels
