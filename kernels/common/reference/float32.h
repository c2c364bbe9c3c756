#pragma once

#include <array>

namespace monojit::kernels::reference {

/// v_rsq_f32 as the emulator defines it: 1 / sqrt(x) correctly rounded, denormal input flushed to zero (rsq(-0) =
/// -inf).
float rsq(float x);

/// v_rcp_f32 as the emulator defines it: 1 / x correctly rounded, denormals flushed to zero on both sides.
float rcp(float x);

/// v_exp_f32 as the emulator defines it: 2^x by a Taylor polynomial of degree 9 in double around the nearest whole
/// number, rounded once; denormals flushed to zero on both sides. Within 1 ulp, as the chip promises.
float exp2(float x);

/// x / d by one reciprocal and two corrections, r = 1 / d correctly rounded. Equals the quotient for normal results
/// only: zeros lose their sign, and a reciprocal that overflowed gives NaN or infinity.
float divide_by_reciprocal(float x, float d, float r);

/// The larger one, or NaN when either is NaN.
float maximum(float a, float b);
/// The smaller one, or NaN when either is NaN.
float minimum(float a, float b);

/// One value for each of the 32 lanes of a half wave.
using HalfWave = std::array<float, 32>;

using Wave = std::array<float, 64>;

/// Sum over a wave in the order of lane exchanges with distances 32, 16, 8, 4, 2, 1.
float wave_sum(Wave values);

/// Sum over a half wave in the order of lane exchanges with distances 16, 8, 4, 2, 1: the order decides the bits.
float half_wave_sum(HalfWave values);

}  // namespace monojit::kernels::reference
