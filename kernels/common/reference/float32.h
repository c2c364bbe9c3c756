#pragma once

#include <array>

namespace monojit::kernels::reference {

/// v_rsq_f32 as the emulator defines it: 1 / sqrt(x) correctly rounded, denormal input flushed to zero (rsq(-0) =
/// -inf).
float rsq(float x);

/// x / d by one reciprocal and two corrections, r = 1 / d correctly rounded. Equals the quotient for normal results
/// only: zeros lose their sign, and a reciprocal that overflowed gives NaN or infinity.
float divide_by_reciprocal(float x, float d, float r);

/// The larger one, or NaN when either is NaN.
float maximum(float a, float b);
/// The smaller one, or NaN when either is NaN.
float minimum(float a, float b);

/// One value for each of the 32 lanes of a half wave.
using HalfWave = std::array<float, 32>;

/// Sum over a half wave in the order of lane exchanges with distances 16, 8, 4, 2, 1: the order decides the bits.
float half_wave_sum(HalfWave values);

}  // namespace monojit::kernels::reference
