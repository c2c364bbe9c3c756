#include "kernels/common/reference/fp8.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace monojit::kernels::reference {
namespace {

constexpr int kMantissaBits = 3;

std::uint8_t nan_byte(Fp8Format format, bool negative) {
  if (format == Fp8Format::kFnuz) return 0x80;
  return negative ? 0xFF : 0x7F;
}

Fp8Table make_table(Fp8Format format) {
  Fp8Table table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    const float value = fp8_value(format, static_cast<std::uint8_t>(byte));
    table.value[byte] = value;
    if (std::isnan(value) || value == 0) continue;
    table.power[byte] = std::ldexp(1.0F, std::max(std::ilogb(value), fp8_least_exponent(format)));
  }
  return table;
}

}  // namespace

float fp8_value(Fp8Format format, std::uint8_t byte) {
  if (fp8_is_nan(format, byte)) return std::numeric_limits<float>::quiet_NaN();
  const int least = fp8_least_exponent(format);
  const int exponent = (byte >> kMantissaBits) & 0xF;
  const int mantissa = byte & 7;
  const int significand = exponent == 0 ? mantissa : mantissa + 8;
  const float magnitude =
      std::ldexp(static_cast<float>(significand), least - kMantissaBits + std::max(exponent - 1, 0));
  return (byte & 0x80U) != 0 ? -magnitude : magnitude;
}

std::uint8_t fp8_bits(Fp8Format format, float value) {
  const bool negative = std::signbit(value);
  const float magnitude = std::fabs(value);
  if (!(magnitude < 1024.0F)) return nan_byte(format, negative);
  const int least = fp8_least_exponent(format);
  const int exponent = magnitude == 0 ? least : std::max(std::ilogb(magnitude), least);
  // In units of the last place: 0..7 below the normal range, else 8..16, where 16 carries into the next exponent by
  // itself.
  const auto units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, kMantissaBits - exponent)));
  const int code = ((exponent - least) << kMantissaBits) + units;
  const int largest = format == Fp8Format::kOcp ? 0x7E : 0x7F;
  if (code > largest) return nan_byte(format, negative);
  if (code == 0 && format == Fp8Format::kFnuz) return 0;
  return static_cast<std::uint8_t>(code | (negative ? 0x80 : 0));
}

const Fp8Table& fp8_table(Fp8Format format) {
  static const Fp8Table kOcpTable = make_table(Fp8Format::kOcp);
  static const Fp8Table kFnuzTable = make_table(Fp8Format::kFnuz);
  return format == Fp8Format::kOcp ? kOcpTable : kFnuzTable;
}

}  // namespace monojit::kernels::reference
