#pragma once

#include <array>
#include <cstdint>

namespace monojit::kernels::reference {

/// The two E4M3 encodings. OCP: bias 7, largest 448, NaN 0x7F / 0xFF. FNUZ: bias 8, largest 240, the only NaN is 0x80,
/// no -0.
enum class Fp8Format : std::uint8_t { kOcp, kFnuz };

constexpr float fp8_max(Fp8Format format) { return format == Fp8Format::kOcp ? 448.0F : 240.0F; }
constexpr int fp8_least_exponent(Fp8Format format) { return format == Fp8Format::kOcp ? -6 : -7; }

constexpr bool fp8_is_nan(Fp8Format format, std::uint8_t byte) {
  return format == Fp8Format::kOcp ? (byte & 0x7FU) == 0x7FU : byte == 0x80U;
}

float fp8_value(Fp8Format format, std::uint8_t byte);

/// Round to nearest even with gradual underflow. What rounds beyond the largest value becomes NaN, as the chips'
/// conversion does.
std::uint8_t fp8_bits(Fp8Format format, float value);

/// All 256 bytes of a format, decoded.
struct Fp8Table {
  std::array<float, 256> value;
  /// 2^e of the significand form that matrix cores align by: e is never below the format's least normal exponent; 0 for
  /// zeros.
  std::array<float, 256> power;
};
const Fp8Table& fp8_table(Fp8Format format);

}  // namespace monojit::kernels::reference
