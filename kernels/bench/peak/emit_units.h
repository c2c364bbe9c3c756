#pragma once

#include "ir/dsl.h"

namespace monojit::kernels::bench {

// One loop a unit. Each returns a number that depends on all of its work, so that none is idle.

/// Independent chains of f32 and integer arithmetic.
ir::Float32 valu(const ir::Uniform<ir::Int32>& rounds);

/// Loads and stores of 4, 8 and 16 bytes a lane, six in equal parts, each at its natural stride.
ir::Float32 lds(const ir::Uniform<ir::Int32>& rounds);

/// Independent chains of MFMAs over K = kMatrixDepth, again and again. `columns`: so many of B and C differ, the others
/// repeat the last one.
ir::Float32 mfma_bf16(const ir::Uniform<ir::Int32>& rounds, bool wide, int columns);
ir::Float32 mfma_fp4(const ir::Uniform<ir::Int32>& rounds);

/// 16 bytes a lane from `data` to the place behind the last round's: rounds * kPeakThreads * kPeakWorkgroups * 16
/// bytes.
ir::Float32 copy(const ir::Uniform<ir::Ptr<ir::Float32, ir::Global>>& data, const ir::Uniform<ir::Int32>& rounds);

/// A number in -1..1 of its own for every lane and `index`, cheap and never simple.
ir::Float32 seed(const ir::Int32& lane, int index);

}  // namespace monojit::kernels::bench
