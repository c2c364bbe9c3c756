// Bit patterns and the few moves that every conversion needs. Functions of this folder take and give register contents
// as integers and have no branches, so that a loop over 64 lanes becomes vector code.
#pragma once

#include <cstdint>

#include "runtime/emulator/numerics/host_isa.h"

// Always inlined: a handler's loop must see the whole computation, and no out-of-line copy may be shared between TUs.
#define MONOJIT_LANE_FUNCTION [[gnu::always_inline]] inline

namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE {

inline constexpr std::uint32_t kF32Sign = 0x80000000U;
inline constexpr std::uint32_t kF32Magnitude = 0x7FFFFFFFU;
inline constexpr std::uint32_t kF32Infinity = 0x7F800000U;
inline constexpr std::uint32_t kF32QuietBit = 0x00400000U;
inline constexpr std::uint32_t kF32NaN = 0x7FC00000U;
inline constexpr std::uint32_t kF32SmallestNormal = 0x00800000U;
inline constexpr std::uint32_t kF32LargestFinite = 0x7F7FFFFFU;
inline constexpr std::uint64_t kF64Sign = 0x8000000000000000U;
inline constexpr std::uint64_t kF64Magnitude = 0x7FFFFFFFFFFFFFFFU;
inline constexpr std::uint64_t kF64Infinity = 0x7FF0000000000000U;
inline constexpr std::uint64_t kF64QuietBit = 0x0008000000000000U;
inline constexpr std::uint64_t kF64NaN = 0x7FF8000000000000U;
inline constexpr std::uint64_t kF64SmallestNormal = 0x0010000000000000U;

MONOJIT_LANE_FUNCTION constexpr float as_float(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
MONOJIT_LANE_FUNCTION constexpr std::uint32_t as_bits(float value) { return __builtin_bit_cast(std::uint32_t, value); }
MONOJIT_LANE_FUNCTION constexpr double as_double(std::uint64_t bits) { return __builtin_bit_cast(double, bits); }
MONOJIT_LANE_FUNCTION constexpr std::uint64_t as_bits(double value) { return __builtin_bit_cast(std::uint64_t, value); }

MONOJIT_LANE_FUNCTION constexpr std::uint32_t magnitude(std::uint32_t x) { return x & kF32Magnitude; }
MONOJIT_LANE_FUNCTION constexpr std::uint64_t magnitude(std::uint64_t x) { return x & kF64Magnitude; }
MONOJIT_LANE_FUNCTION constexpr bool is_nan(std::uint32_t x) { return magnitude(x) > kF32Infinity; }
MONOJIT_LANE_FUNCTION constexpr bool is_nan(std::uint64_t x) { return magnitude(x) > kF64Infinity; }
MONOJIT_LANE_FUNCTION constexpr bool is_infinite(std::uint32_t x) { return magnitude(x) == kF32Infinity; }
MONOJIT_LANE_FUNCTION constexpr bool is_infinite(std::uint64_t x) { return magnitude(x) == kF64Infinity; }
MONOJIT_LANE_FUNCTION constexpr bool is_zero(std::uint32_t x) { return magnitude(x) == 0; }
MONOJIT_LANE_FUNCTION constexpr bool is_zero(std::uint64_t x) { return magnitude(x) == 0; }
MONOJIT_LANE_FUNCTION constexpr bool is_denormal(std::uint32_t x) { return magnitude(x) - 1 < kF32SmallestNormal - 1; }
MONOJIT_LANE_FUNCTION constexpr bool is_denormal(std::uint64_t x) { return magnitude(x) - 1 < kF64SmallestNormal - 1; }
MONOJIT_LANE_FUNCTION constexpr bool is_signaling(std::uint32_t x) { return is_nan(x) & ((x & kF32QuietBit) == 0); }
MONOJIT_LANE_FUNCTION constexpr bool is_signaling(std::uint64_t x) { return is_nan(x) & ((x & kF64QuietBit) == 0); }
MONOJIT_LANE_FUNCTION constexpr std::uint32_t quiet(std::uint32_t nan) { return nan | kF32QuietBit; }
MONOJIT_LANE_FUNCTION constexpr std::uint64_t quiet(std::uint64_t nan) { return nan | kF64QuietBit; }

/// condition ? x : y, in a form that compilers don't turn back into branches, which would keep a loop from becoming
/// vector code.
template <class Bits>
MONOJIT_LANE_FUNCTION constexpr Bits select(bool condition, Bits x, Bits y) {
  const Bits mask = Bits{0} - static_cast<Bits>(condition);
  return y ^ ((x ^ y) & mask);
}

/// A denormal becomes zero of its sign; every other pattern stays.
MONOJIT_LANE_FUNCTION constexpr std::uint32_t flush_denormal(std::uint32_t x) {
  return magnitude(x) < kF32SmallestNormal ? x & kF32Sign : x;
}

MONOJIT_LANE_FUNCTION constexpr std::uint64_t flush_denormal(std::uint64_t x) {
  return magnitude(x) < kF64SmallestNormal ? x & kF64Sign : x;
}

/// 2^exponent, for -126 <= exponent <= 127 (f32) or -1022 <= exponent <= 1023 (f64).
MONOJIT_LANE_FUNCTION constexpr float power_of_two_f32(std::int32_t exponent) {
  return as_float(static_cast<std::uint32_t>(exponent + 127) << 23);
}

MONOJIT_LANE_FUNCTION constexpr double power_of_two_f64(std::int64_t exponent) {
  return as_double(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

}  // namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE
