#pragma once

#include "ir/dsl.h"

namespace monojit::kernels {

/// Clamps to +-limit; NaN stays NaN.
inline ir::Float32 saturate(const ir::Float32& x, float limit) { return ir::max(ir::min(x, limit), -limit); }

/// Four values as FP8 bytes of the chip's format, the first one lowest.
inline ir::Int32 pack_fp8(const ir::Vec<ir::Float32, 4>& v) { return ir::pack_fp8(v[0], v[1], v[2], v[3]); }

}  // namespace monojit::kernels
