#pragma once

#include "ir/dsl.h"

namespace monojit::kernels {

/// Dims of a head that a lane holds; the 32 lanes of a half wave hold a head of 128.
inline constexpr int kLaneDims = 4;
using HeadDims = ir::Vec<ir::Float32, kLaneDims>;
using HeadBFloat16 = ir::Vec<ir::BFloat16, kLaneDims>;

/// RMS norm of one head by a half wave: (e * rsq(mean of squares + eps)) * (1 + gamma). Squares are summed in the order
/// of the dims within a lane, then over lanes xor 16, 8, 4, 2, 1. All lanes have to be active.
HeadDims norm_head(const HeadDims& e, const HeadBFloat16& gamma, float eps);

/// Rotary embedding of the first `rotary` dims, NeoX pairing: dim d turns with d + rotary / 2. `dim` is the lane's
/// first dim; cosine and sine are those of d mod (rotary / 2). Only the partner's product is rounded before the
/// addition.
HeadDims rotate_head(const HeadDims& n, const ir::Int32& dim, const HeadBFloat16& cosine, const HeadBFloat16& sine,
                     int rotary);

}  // namespace monojit::kernels
