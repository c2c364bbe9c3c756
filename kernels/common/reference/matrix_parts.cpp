#include "kernels/common/reference/matrix_parts.h"

#include <bit>
#include <cmath>
#include <cstdlib>

namespace monojit::kernels::reference {
namespace {

constexpr int kJoinBits = 32;  // fraction bits of the joined sum
constexpr int kFinalBits = 31;
constexpr int kLeastExponent = -126;

int exponent_of(std::int64_t magnitude) { return std::bit_width(static_cast<std::uint64_t>(magnitude)) - 1; }

double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::int64_t>(1023 + exponent) << 52); }

}  // namespace

float join_addend(std::int64_t sum, int ed, float c, SmallAddend small) {
  const auto bits = std::bit_cast<std::uint32_t>(c);
  const int encoded = static_cast<int>((bits >> kF32Fraction) & 0xFF);
  if (encoded == 0xFF) return c;  // infinities and NaNs stay
  const int ec = std::max(encoded - kF32Bias, kLeastExponent);
  const std::int64_t fraction = bits & 0x7FFFFFU;
  const std::int64_t magnitude = encoded == 0 ? fraction : fraction | 0x800000;
  const std::int64_t significand = (bits >> 31) != 0 ? -magnitude : magnitude;  // units of 2^(ec - 23)
  const int top = std::max(ed, ec);
  // From here on in units of 2^(top - 32).
  std::int64_t total = floor_shift(sum, top - ed - (kJoinBits - kSumBits));
  if (small == SmallAddend::kRoundedDown || ec >= top - kSumBits - 1) {
    total += floor_shift(significand, top - ec + kF32Fraction - kSumBits) * (std::int64_t{1} << (kJoinBits - kSumBits));
  }
  if (total == 0) return 0;
  const int unit = top - kJoinBits;
  const int exponent = std::max(exponent_of(std::llabs(total)) + unit, kLeastExponent);
  const int cut = std::max(exponent - kFinalBits - unit, 0);
  total = (total >> cut) * (std::int64_t{1} << cut);
  return static_cast<float>(static_cast<double>(total) * power_of_two(unit));
}

float add_rounded_once(double sum, double c) {
  const double total = sum + c;
  if (!std::isfinite(total)) return static_cast<float>(total);
  const double c_part = total - sum;
  const double rest = (sum - (total - c_part)) + (c - c_part);  // what the addition lost, exactly
  auto bits = std::bit_cast<std::int64_t>(total);
  // Rounding to odd keeps the second rounding from seeing a false tie.
  if (rest != 0 && (bits & 1) == 0) bits += (rest > 0) == (total > 0) ? 1 : -1;
  return static_cast<float>(std::bit_cast<double>(bits));
}

}  // namespace monojit::kernels::reference
