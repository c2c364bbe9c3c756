#pragma once

#include <bit>
#include <cstdint>

namespace monojit::kernels::reference {

/// Bits of a bf16.
using BFloat16Bits = std::uint16_t;

constexpr float bf16_value(BFloat16Bits bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

constexpr bool bf16_is_nan(BFloat16Bits bits) { return (bits & 0x7FFFU) > 0x7F80U; }

/// Whether two values mean the same: bits, but for NaNs, whose payload nothing specifies.
constexpr bool same_bf16(BFloat16Bits a, BFloat16Bits b) { return a == b || (bf16_is_nan(a) && bf16_is_nan(b)); }

/// Round to nearest even; a NaN stays a NaN (quiet, upper payload bits kept).
constexpr BFloat16Bits bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<BFloat16Bits>((bits >> 16) | 0x40U);
  return static_cast<BFloat16Bits>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

constexpr float round_bf16(float value) { return bf16_value(bf16_bits(value)); }

}  // namespace monojit::kernels::reference
