#pragma once

#include <algorithm>
#include <cstdint>

/// What the FP8 and bf16 models of the matrix core share.
namespace monojit::kernels::reference {

inline constexpr int kSumBits = 24;  // fraction bits that products, sums and addends keep below the largest exponent
inline constexpr int kF32Bias = 127;
inline constexpr int kF32Fraction = 23;

/// value / 2^right, rounded down.
constexpr std::int64_t floor_shift(std::int64_t value, int right) {
  return right >= 0 ? value >> std::min(right, 63) : value * (std::int64_t{1} << -right);
}

/// What a group's rules do with an addend of less than 2^-25 of the largest product.
enum class SmallAddend : std::uint8_t {
  kDropped,      ///< counts as 0: 8-bit inputs
  kRoundedDown,  ///< pulls the sum down one step when it is negative: 16-bit inputs
};

/// The "cdna3" model's joining of the running f32 `c` and a group's sum, in units of 2^(ed - 24).
float join_addend(std::int64_t sum, int ed, float c, SmallAddend small);

/// sum + c with a single rounding to f32.
float add_rounded_once(double sum, double c);

}  // namespace monojit::kernels::reference
