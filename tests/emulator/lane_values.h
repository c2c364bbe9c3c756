// Conversions between register contents and numbers, for the definitions that tests compare with.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "runtime/emulator/types.h"

namespace monojit::emulator::test {

inline std::uint32_t u(std::int64_t value) { return static_cast<std::uint32_t>(value); }
inline std::int32_t s(std::uint32_t value) { return static_cast<std::int32_t>(value); }
inline float f(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
inline double d(std::uint64_t bits) { return std::bit_cast<double>(bits); }
inline double h(std::uint64_t bits) {
  return static_cast<double>(std::bit_cast<f16>(static_cast<std::uint16_t>(bits)));
}
inline std::uint64_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
inline std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

inline std::int64_t sext24(std::uint32_t value) {
  return (value & 0x800000) != 0 ? std::int64_t{value & 0xffffff} - 0x1000000 : std::int64_t{value & 0xffffff};
}

/// A field of a word, zero or sign extended.
inline std::int64_t field(std::uint64_t word, unsigned first, unsigned width, bool is_signed) {
  const std::uint64_t raw = word >> first & ((std::uint64_t{1} << width) - 1);
  const bool negative = is_signed && (raw >> (width - 1) & 1) != 0;
  return static_cast<std::int64_t>(raw) - (negative ? std::int64_t{1} << width : 0);
}

/// The nearest integer of a range.
inline std::int64_t limited(std::int64_t value, std::int64_t low, std::int64_t high) {
  return value < low ? low : value > high ? high : value;
}

/// `value` in the low half, `old` above.
inline std::uint32_t low_half(std::uint32_t old, std::uint64_t value) {
  return (old & 0xffff0000) | static_cast<std::uint32_t>(value & 0xffff);
}
inline std::uint32_t high_half(std::uint32_t old, std::uint64_t value) {
  return (old & 0xffff) | static_cast<std::uint32_t>(value & 0xffff) << 16;
}

/// What a destination row holds before an instruction under test.
inline constexpr std::uint32_t kOldResult = 0x5a5a5a5a;

}  // namespace monojit::emulator::test
