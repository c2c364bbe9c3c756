// Floating-point formats narrower than f32, described by their field widths: magnitudes to f32 and back.
#pragma once

#include "runtime/emulator/numerics/bits.h"

namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE {

/// A sign bit, then exponent bits with this bias, then mantissa bits; denormals below exponent 1.
struct SmallFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;

  [[nodiscard]] constexpr int width() const { return 1 + exponent_bits + mantissa_bits; }
  [[nodiscard]] constexpr std::uint32_t sign() const { return 1U << (exponent_bits + mantissa_bits); }
  [[nodiscard]] constexpr std::uint32_t mask() const { return sign() - 1; }
  [[nodiscard]] constexpr int dropped_bits() const { return 23 - mantissa_bits; }  // of an f32 mantissa
};

inline constexpr SmallFormat kFormatF16 = {5, 10, 15};
inline constexpr SmallFormat kFormatE4M3 = {4, 3, 7};
inline constexpr SmallFormat kFormatE5M2 = {5, 2, 15};
inline constexpr SmallFormat kFormatE4M3Fnuz = {4, 3, 8};
inline constexpr SmallFormat kFormatE5M2Fnuz = {5, 2, 16};
inline constexpr SmallFormat kFormatE2M3 = {2, 3, 1};
inline constexpr SmallFormat kFormatE3M2 = {3, 2, 3};
inline constexpr SmallFormat kFormatE2M1 = {2, 1, 1};

/// f32 bits of a magnitude code, exact; every exponent code counts as finite. A denormal is made as a normal number of
/// the same exponent less its hidden bit: host arithmetic on f32 denormals would be slow.
template <SmallFormat F>
MONOJIT_LANE_FUNCTION constexpr std::uint32_t widen_magnitude(std::uint32_t code) {
  constexpr std::uint32_t kHidden = 1U << F.mantissa_bits;
  constexpr std::uint32_t kRebias = static_cast<std::uint32_t>(127 - F.bias) << 23;
  constexpr std::uint32_t kSmallestNormal = static_cast<std::uint32_t>(128 - F.bias) << 23;
  const std::uint32_t denormal = std::uint32_t{0} - static_cast<std::uint32_t>(code < kHidden);
  const std::uint32_t normal = ((code | (denormal & kHidden)) << F.dropped_bits()) + kRebias;
  // Zero comes out as a difference of equals, which has a sign when the wave rounds down.
  return as_bits(as_float(normal) - as_float(denormal & kSmallestNormal)) & 0x7FFFFFFFU;
}

/// Moves the sign bit of a code to where f32 has it.
template <SmallFormat F>
MONOJIT_LANE_FUNCTION constexpr std::uint32_t widen_sign(std::uint32_t code) {
  return (code & F.sign()) << (32 - F.width());
}

template <SmallFormat F>
MONOJIT_LANE_FUNCTION constexpr std::uint32_t narrow_sign(std::uint32_t f32) {
  return (f32 & kF32Sign) >> (32 - F.width());
}

/// f32 magnitude bits to the nearest magnitude code, ties to even, gradual underflow. Codes go on past the format's
/// largest as if it had more exponent bits: the caller decides what overflow means.
template <SmallFormat F>
MONOJIT_LANE_FUNCTION constexpr std::uint32_t narrow_magnitude(std::uint32_t f32) {
  constexpr int kDropped = F.dropped_bits();
  const std::uint32_t even = (f32 >> kDropped) & 1U;
  const std::uint32_t normal = ((f32 + (1U << (kDropped - 1)) - 1 + even) >> kDropped) -
                               (static_cast<std::uint32_t>(127 - F.bias) << F.mantissa_bits);
  // Adding a power of two whose unit is the format's smallest denormal leaves the rounded code in the low bits.
  constexpr float kAligner = power_of_two_f32(1 - F.bias - F.mantissa_bits + 23);
  constexpr std::uint32_t kSmallestNormal = static_cast<std::uint32_t>(128 - F.bias) << 23;
  const std::uint32_t small = f32 < kSmallestNormal ? f32 : 0;
  const std::uint32_t denormal = as_bits(as_float(small) + kAligner) - as_bits(kAligner);
  return f32 < kSmallestNormal ? denormal : normal;
}

/// The same with stochastic rounding: the seed is a 32-bit fraction of the result's unit, added before cutting towards
/// zero. Of the seed as many high bits count as the f32 mantissa
/// loses for a normal result; bits of a denormal result below that resolution are cut first.
template <SmallFormat F>
MONOJIT_LANE_FUNCTION constexpr std::uint32_t narrow_magnitude_stochastic(std::uint32_t f32, std::uint32_t seed) {
  constexpr int kDropped = F.dropped_bits();
  const std::uint32_t fraction = seed >> (32 - kDropped);
  const std::uint32_t normal =
      ((f32 + fraction) >> kDropped) - (static_cast<std::uint32_t>(127 - F.bias) << F.mantissa_bits);
  constexpr std::uint32_t kSmallestNormal = static_cast<std::uint32_t>(128 - F.bias) << 23;
  const std::uint32_t small = f32 < kSmallestNormal ? f32 : 0;
  constexpr float kUnits = power_of_two_f32(F.bias - 1 + F.mantissa_bits);
  const float fixed = as_float(small) * kUnits * power_of_two_f32(kDropped);
  const std::uint32_t denormal = (static_cast<std::uint32_t>(static_cast<std::int32_t>(fixed)) + fraction) >> kDropped;
  return f32 < kSmallestNormal ? denormal : normal;
}

}  // namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE
