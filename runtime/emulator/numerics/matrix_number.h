// Operands of the matrix core taken apart: an integer times a power of two, or Inf, or NaN.
#pragma once

#include <cstdint>

#include "runtime/emulator/numerics/matrix_shape.h"

namespace monojit::emulator::matrix {

enum class Format : std::uint8_t { kF32, kXf32, kBf16, kF16, kE4M3, kE5M2, kE4M3Fnuz, kE5M2Fnuz, kE2M3, kE3M2, kE2M1 };

struct FormatFields {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool ieee_specials;          ///< the largest exponent code means Inf and NaN
  std::uint32_t nan_mask = 0;  ///< else: (code & mask) == nan_code is NaN, unless the mask is 0
  std::uint32_t nan_code = 0;

  [[nodiscard]] constexpr int width() const { return 1 + exponent_bits + mantissa_bits; }
};

constexpr FormatFields format_fields(Format format) {
  switch (format) {
    case Format::kF32:
    case Format::kXf32:
      return {8, 23, 127, true};
    case Format::kBf16:
      return {8, 7, 127, true};
    case Format::kF16:
      return {5, 10, 15, true};
    case Format::kE4M3:
      return {4, 3, 7, false, 0x7F, 0x7F};
    case Format::kE5M2:
      return {5, 2, 15, true};
    case Format::kE4M3Fnuz:
      return {4, 3, 8, false, 0xFF, 0x80};
    case Format::kE5M2Fnuz:
      return {5, 2, 16, false, 0xFF, 0x80};
    case Format::kE2M3:
      return {2, 3, 1, false};
    case Format::kE3M2:
      return {3, 2, 3, false};
    case Format::kE2M1:
      return {2, 1, 1, false};
  }
  return {};
}

struct Number {
  enum class Kind : std::uint8_t { kFinite, kInfinite, kNan };

  std::int64_t significand = 0;  ///< signed
  int unit = 0;                  ///< value = significand * 2^unit
  int exponent = 0;              ///< of the value, not below that of the format's smallest normal
  Kind kind = Kind::kFinite;
  bool negative = false;

  [[nodiscard]] bool is_zero() const { return kind == Kind::kFinite && significand == 0; }
};

inline Number decode(Format format, std::uint32_t code) {
  const FormatFields fields = format_fields(format);
  const std::uint32_t mantissa_mask = (1U << fields.mantissa_bits) - 1;
  const std::uint32_t exponent_mask = (1U << fields.exponent_bits) - 1;
  if (format == Format::kXf32) code &= ~0x1FFFU;  // the low 13 bits take no part

  Number number;
  number.negative = ((code >> (fields.width() - 1)) & 1U) != 0;
  const std::uint32_t exponent = (code >> fields.mantissa_bits) & exponent_mask;
  std::int64_t significand = code & mantissa_mask;
  if (fields.ieee_specials && exponent == exponent_mask) {
    number.kind = significand == 0 ? Number::Kind::kInfinite : Number::Kind::kNan;
    return number;
  }
  if (fields.nan_mask != 0 && (code & fields.nan_mask) == fields.nan_code) {
    number.kind = Number::Kind::kNan;
    return number;
  }
  if (exponent != 0) significand |= std::int64_t{1} << fields.mantissa_bits;
  number.exponent = static_cast<int>(exponent == 0 ? 1 : exponent) - fields.bias;
  number.unit = number.exponent - fields.mantissa_bits;
  number.significand = number.negative ? -significand : significand;
  return number;
}

/// Format of an element of an MFMA. `selector` is cbsz or blgp of the f8f6f4 forms.
inline Format element_format(Element element, Chip chip, unsigned selector) {
  constexpr Format kSelected[8] = {Format::kE4M3, Format::kE5M2, Format::kE2M3, Format::kE3M2,
                                   Format::kE2M1, Format::kE2M1, Format::kE2M1, Format::kE2M1};
  switch (element) {
    case Element::kF16:
      return Format::kF16;
    case Element::kBf16:
      return Format::kBf16;
    case Element::kXf32:
      return Format::kXf32;
    case Element::kFp8:
      return chip == Chip::kGfx942 ? Format::kE4M3Fnuz : Format::kE4M3;
    case Element::kBf8:
      return chip == Chip::kGfx942 ? Format::kE5M2Fnuz : Format::kE5M2;
    case Element::kF8f6f4:
      return kSelected[selector & 7U];
    default:
      return Format::kF32;
  }
}

}  // namespace monojit::emulator::matrix
