#pragma once

#include <cstdint>

/// MX numbers: FP4 (E2M1) values in blocks of 32 with an E8M0 scale, code c meaning 2^(c - 127), 255 NaN.
namespace monojit::kernels::reference {

inline constexpr int kMxBlock = 32;

/// Value of an E2M1 code: 0, 0.5, 1, 1.5, 2, 3, 4, 6, bit 3 the sign.
float fp4_value(unsigned code);

/// The nearest E2M1 code, ties to even; what is too large saturates. A NaN gives 0, as the emulator has it: the chip's
/// answer is not documented.
unsigned fp4_code(float value);

/// Value of an E8M0 code, 255 a NaN.
float e8m0_value(unsigned code);

/// Scale code for a block whose largest magnitude is `amax`: the power of two not below amax / 6. 0 for a NaN, 254 for
/// infinity.
unsigned mx_scale_code(float amax);

/// FP4 codes of `value` / 2^(code - 127), one rounding, as v_cvt_scalef32_pk_fp4 does it; code below 255.
unsigned fp4_scaled_code(float value, unsigned code);

}  // namespace monojit::kernels::reference
