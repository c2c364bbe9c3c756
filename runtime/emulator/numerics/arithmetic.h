// Minimum, maximum and median with AMD's NaN rules; rounding to integers; f32 and integer conversions; frexp and ldexp.
// MODE's denormal flush is the caller's: pass flush_denormal(x) where it is on.
#pragma once

#include "runtime/emulator/numerics/bits.h"

namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE {

/// A total order of the non-NaN patterns in which -0 comes before +0.
MONOJIT_LANE_FUNCTION constexpr std::int32_t order_key(std::uint32_t x) {
  return static_cast<std::int32_t>(x ^ (static_cast<std::uint32_t>(static_cast<std::int32_t>(x) >> 31) >> 1));
}

MONOJIT_LANE_FUNCTION constexpr std::int64_t order_key(std::uint64_t x) {
  return static_cast<std::int64_t>(x ^ (static_cast<std::uint64_t>(static_cast<std::int64_t>(x) >> 63) >> 1));
}

/// v_min / v_max of f32 or f64 bits: a NaN operand loses; with MODE.IEEE set, a signalling one wins and comes out
/// quiet.
template <class Bits>
MONOJIT_LANE_FUNCTION constexpr Bits pick_number(Bits x, Bits y, Bits best, bool ieee) {
  const Bits number = select(is_nan(x), y, select(is_nan(y), x, best));
  return select(is_signaling(x) & ieee, quiet(x), select(is_signaling(y) & ieee, quiet(y), number));
}

template <class Bits>
MONOJIT_LANE_FUNCTION constexpr Bits min_number(Bits x, Bits y, bool ieee = true) {
  return pick_number(x, y, order_key(x) < order_key(y) ? x : y, ieee);
}

template <class Bits>
MONOJIT_LANE_FUNCTION constexpr Bits max_number(Bits x, Bits y, bool ieee = true) {
  return pick_number(x, y, order_key(x) < order_key(y) ? y : x, ieee);
}

/// v_min3, v_max3: two steps.
template <class Bits>
MONOJIT_LANE_FUNCTION constexpr Bits min3_number(Bits x, Bits y, Bits z, bool ieee = true) {
  return min_number(min_number(x, y, ieee), z, ieee);
}

template <class Bits>
MONOJIT_LANE_FUNCTION constexpr Bits max3_number(Bits x, Bits y, Bits z, bool ieee = true) {
  return max_number(max_number(x, y, ieee), z, ieee);
}

/// v_med3_f32: with a NaN among the operands, the minimum of the three.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t med3_f32(std::uint32_t x, std::uint32_t y, std::uint32_t z,
                                                       bool ieee = true) {
  const std::uint32_t low = select(order_key(x) < order_key(y), x, y);
  const std::uint32_t high = x ^ y ^ low;
  const std::uint32_t upper = select(order_key(high) < order_key(z), high, z);
  const std::uint32_t median = select(order_key(low) < order_key(upper), upper, low);
  const std::uint32_t largest_xy = magnitude(x) > magnitude(y) ? magnitude(x) : magnitude(y);
  const std::uint32_t largest = largest_xy > magnitude(z) ? largest_xy : magnitude(z);
  return select(largest > kF32Infinity, min3_number(x, y, z, ieee), median);
}

/// v_minimum3 / v_maximum3 steps (gfx950): IEEE 754-2019 minimum and maximum, where any NaN wins, quietened.
template <class Bits>
MONOJIT_LANE_FUNCTION constexpr Bits pick_with_nan(Bits x, Bits y, Bits best) {
  const Bits quiet_nan = is_nan(x) ? quiet(x) : quiet(y);
  const Bits signaling = is_signaling(x) ? quiet(x) : quiet(y);
  const Bits nan = is_signaling(x) | is_signaling(y) ? signaling : quiet_nan;
  return is_nan(x) | is_nan(y) ? nan : best;
}

template <class Bits>
MONOJIT_LANE_FUNCTION constexpr Bits minimum(Bits x, Bits y) {
  return pick_with_nan(x, y, order_key(x) < order_key(y) ? x : y);
}

template <class Bits>
MONOJIT_LANE_FUNCTION constexpr Bits maximum(Bits x, Bits y) {
  return pick_with_nan(x, y, order_key(x) < order_key(y) ? y : x);
}

template <class Bits>
MONOJIT_LANE_FUNCTION constexpr Bits minimum3(Bits x, Bits y, Bits z) {
  return minimum(minimum(x, y), z);
}

template <class Bits>
MONOJIT_LANE_FUNCTION constexpr Bits maximum3(Bits x, Bits y, Bits z) {
  return maximum(maximum(x, y), z);
}

MONOJIT_LANE_FUNCTION constexpr std::uint32_t quiet_if_nan(std::uint32_t x, std::uint32_t result) {
  return is_nan(x) ? quiet(x) : result;
}

MONOJIT_LANE_FUNCTION constexpr std::uint64_t quiet_if_nan(std::uint64_t x, std::uint64_t result) {
  return is_nan(x) ? quiet(x) : result;
}

MONOJIT_LANE_FUNCTION std::uint32_t rndne(std::uint32_t x) {
  return quiet_if_nan(x, as_bits(__builtin_rintf(as_float(x))));
}
MONOJIT_LANE_FUNCTION std::uint32_t floor(std::uint32_t x) {
  return quiet_if_nan(x, as_bits(__builtin_floorf(as_float(x))));
}
MONOJIT_LANE_FUNCTION std::uint32_t ceil(std::uint32_t x) {
  return quiet_if_nan(x, as_bits(__builtin_ceilf(as_float(x))));
}
MONOJIT_LANE_FUNCTION std::uint32_t trunc(std::uint32_t x) {
  return quiet_if_nan(x, as_bits(__builtin_truncf(as_float(x))));
}
MONOJIT_LANE_FUNCTION std::uint64_t rndne(std::uint64_t x) {
  return quiet_if_nan(x, as_bits(__builtin_rint(as_double(x))));
}
MONOJIT_LANE_FUNCTION std::uint64_t floor(std::uint64_t x) {
  return quiet_if_nan(x, as_bits(__builtin_floor(as_double(x))));
}
MONOJIT_LANE_FUNCTION std::uint64_t ceil(std::uint64_t x) {
  return quiet_if_nan(x, as_bits(__builtin_ceil(as_double(x))));
}
MONOJIT_LANE_FUNCTION std::uint64_t trunc(std::uint64_t x) {
  return quiet_if_nan(x, as_bits(__builtin_trunc(as_double(x))));
}

/// v_fract: x - floor(x), kept below 1. Inf gives NaN.
MONOJIT_LANE_FUNCTION std::uint32_t fract(std::uint32_t x) {
  const float part = as_float(x) - __builtin_floorf(as_float(x));
  const std::uint32_t below_one = as_bits(part) > 0x3F7FFFFFU ? 0x3F7FFFFFU : as_bits(part);
  return is_infinite(x) ? kF32NaN : quiet_if_nan(x, below_one);
}

MONOJIT_LANE_FUNCTION std::uint64_t fract(std::uint64_t x) {
  const double part = as_double(x) - __builtin_floor(as_double(x));
  const std::uint64_t below_one = as_bits(part) > 0x3FEFFFFFFFFFFFFFU ? 0x3FEFFFFFFFFFFFFFU : as_bits(part);
  return is_infinite(x) ? kF64NaN : quiet_if_nan(x, below_one);
}

}  // namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE
