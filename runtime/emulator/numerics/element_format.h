// Elements of typed buffers: data formats (how many components of how many bits) and number formats (what they mean).
#pragma once

#include "runtime/emulator/numerics/f16.h"

namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE {

/// Number formats by their code in descriptors and instructions.
enum class NumberFormat : std::uint8_t {
  kUnorm = 0,
  kSnorm = 1,
  kUscaled = 2,
  kSscaled = 3,
  kUint = 4,
  kSint = 5,
  kFloat = 7
};

inline constexpr unsigned kMostComponents = 4;

/// Bits of each component; the first one has the lowest bits of memory. A missing component has none.
struct ElementLayout {
  std::uint8_t bits[kMostComponents];

  [[nodiscard]] constexpr unsigned bytes() const { return (bits[0] + bits[1] + bits[2] + bits[3]) / 8U; }
};

/// By data format code. Names like 2_10_10_10 list the components from the highest bits down.
inline constexpr ElementLayout kElementLayouts[16] = {{},
                                                      {{8}},
                                                      {{16}},
                                                      {{8, 8}},
                                                      {{32}},
                                                      {{16, 16}},
                                                      {{11, 11, 10}},
                                                      {{10, 11, 11}},
                                                      {{2, 10, 10, 10}},
                                                      {{10, 10, 10, 2}},
                                                      {{8, 8, 8, 8}},
                                                      {{32, 32}},
                                                      {{16, 16, 16, 16}},
                                                      {{32, 32, 32}},
                                                      {{32, 32, 32, 32}},
                                                      {}};

/// Whether the chip has this pair: 32-bit components are integers or float, 8- and 10-bit ones never float, and the
/// packed 11-bit ones nothing else.
constexpr bool is_element_format(unsigned data_format, unsigned number_format) {
  const ElementLayout layout = kElementLayouts[data_format & 15U];
  const auto number = static_cast<NumberFormat>(number_format);
  const bool integer = number == NumberFormat::kUint || number == NumberFormat::kSint;
  if (layout.bits[0] == 0 || number_format == 6 || number_format > 7) return false;
  if (layout.bits[0] == 32) return integer || number == NumberFormat::kFloat;
  if (layout.bits[1] == 11) return number == NumberFormat::kFloat;
  return layout.bits[0] == 16 || number != NumberFormat::kFloat;
}

/// Unsigned floats of 11 and 10 bits: five of exponent, as in f16, and what is left of its mantissa.
constexpr std::uint32_t small_unsigned_to_f32(std::uint32_t code, unsigned bits) {
  return decode_f16(code << (15U - bits));
}

/// Nearest, ties to even; negative numbers become 0, an overflow Inf.
inline std::uint32_t f32_to_small_unsigned(std::uint32_t f32, unsigned bits) {
  constexpr unsigned kExponentBits = 5;
  const unsigned mantissa_bits = bits - kExponentBits;
  const std::uint32_t infinity = 31U << mantissa_bits;
  if (is_nan(f32)) return infinity | 1U << (mantissa_bits - 1);
  if ((f32 & kF32Sign) != 0) return 0;
  if (f32 == kF32Infinity) return infinity;
  // In units of the smallest step of the value's binade (or of the denormals).
  const int exponent = static_cast<int>(f32 >> 23) - 127;
  const int step = (exponent < -14 ? -14 : exponent) - static_cast<int>(mantissa_bits);
  const double scaled = static_cast<double>(as_float(f32)) * __builtin_ldexp(1.0, -step);
  const auto units = static_cast<std::uint32_t>(__builtin_rint(scaled));
  const std::uint32_t binade = exponent < -14 ? 0 : static_cast<std::uint32_t>(exponent + 14) << mantissa_bits;
  const std::uint32_t code = binade + units;
  return exponent > 15 || code > infinity ? infinity : code;
}

/// A component as a register has it: floats for everything but the integer formats.
inline std::uint32_t widen_component(NumberFormat number, std::uint32_t code, unsigned bits) {
  const auto extended = static_cast<std::int32_t>(code << (32U - bits)) >> (32U - bits);
  const double positive_range = static_cast<double>((std::uint64_t{1} << (bits - 1)) - 1);
  const double whole_range = static_cast<double>((std::uint64_t{1} << bits) - 1);
  switch (number) {
    case NumberFormat::kUnorm:
      return as_bits(static_cast<float>(static_cast<double>(code) / whole_range));
    case NumberFormat::kSnorm: {
      const double value = static_cast<double>(extended) / positive_range;
      return as_bits(static_cast<float>(value < -1.0 ? -1.0 : value));
    }
    case NumberFormat::kUscaled:
      return as_bits(static_cast<float>(static_cast<double>(code)));
    case NumberFormat::kSscaled:
      return as_bits(static_cast<float>(extended));
    case NumberFormat::kSint:
      return static_cast<std::uint32_t>(extended);
    case NumberFormat::kFloat:
      return bits == 32 ? code : bits == 16 ? decode_f16(code) : small_unsigned_to_f32(code, bits);
    default:
      return code;
  }
}

inline double clamped(double value, double low, double high) {
  if (value != value) return 0;
  return value < low ? low : value > high ? high : value;
}

/// The other way: nearest, ties to even, saturating; integers lose their upper bits.
inline std::uint32_t narrow_component(NumberFormat number, std::uint32_t value, unsigned bits) {
  const std::uint32_t mask = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
  const double real = static_cast<double>(as_float(value));
  const double positive_range = static_cast<double>(mask >> 1);
  const double whole_range = static_cast<double>(mask);
  double scaled = 0;
  switch (number) {
    case NumberFormat::kUnorm:
      scaled = clamped(real, 0, 1) * whole_range;
      break;
    case NumberFormat::kSnorm:
      scaled = clamped(real, -1, 1) * positive_range;
      break;
    case NumberFormat::kUscaled:
      scaled = clamped(real, 0, whole_range);
      break;
    case NumberFormat::kSscaled:
      scaled = clamped(real, -positive_range - 1, positive_range);
      break;
    case NumberFormat::kFloat:
      return bits == 32 ? value : bits == 16 ? encode_f16(value, false) : f32_to_small_unsigned(value, bits);
    default:
      return value & mask;
  }
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(__builtin_rint(scaled))) & mask;
}

/// Component `index` of the element whose words are `words`.
inline std::uint32_t component_of(const ElementLayout& layout, const std::uint32_t* words, unsigned index) {
  unsigned first = 0;
  for (unsigned i = 0; i < index; ++i) first += layout.bits[i];
  const unsigned bits = layout.bits[index];
  const std::uint32_t word = words[first / 32] >> (first % 32);
  return bits == 32 ? word : word & ((1U << bits) - 1);
}

/// Puts `code` into a zero-filled element. No component crosses a word.
inline void put_component(const ElementLayout& layout, std::uint32_t* words, unsigned index, std::uint32_t code) {
  unsigned first = 0;
  for (unsigned i = 0; i < index; ++i) first += layout.bits[i];
  words[first / 32] |= code << (first % 32);
}

}  // namespace monojit::emulator::numerics::inline MONOJIT_HOST_ISA_NAMESPACE
