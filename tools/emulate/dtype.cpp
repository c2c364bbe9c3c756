#include "tools/emulate/dtype.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/common/error.h"

namespace monojit::tools {
namespace {

using Specials = SmallFloat::Specials;

constexpr Dtype kDtypes[] = {
    {"bool", 1, ElementKind::kBool, "|b1", {}},
    {"u8", 1, ElementKind::kUnsigned, "|u1", {}},
    {"i8", 1, ElementKind::kSigned, "|i1", {}},
    {"u16", 2, ElementKind::kUnsigned, "<u2", {}},
    {"i16", 2, ElementKind::kSigned, "<i2", {}},
    {"u32", 4, ElementKind::kUnsigned, "<u4", {}},
    {"i32", 4, ElementKind::kSigned, "<i4", {}},
    {"u64", 8, ElementKind::kUnsigned, "<u8", {}},
    {"i64", 8, ElementKind::kSigned, "<i8", {}},
    {"f16", 2, ElementKind::kFloat, "<f2", {5, 10, 15, Specials::kIeee}},
    {"bf16", 2, ElementKind::kFloat, "<u2", {8, 7, 127, Specials::kIeee}},
    {"f32", 4, ElementKind::kFloat, "<f4", {}},
    {"f64", 8, ElementKind::kFloat, "<f8", {}},
    {"fp8_e4m3", 1, ElementKind::kFloat, "|u1", {4, 3, 7, Specials::kOneNan}},
    {"fp8_e5m2", 1, ElementKind::kFloat, "|u1", {5, 2, 15, Specials::kIeee}},
    {"fp8_e4m3fnuz", 1, ElementKind::kFloat, "|u1", {4, 3, 8, Specials::kNegativeZeroNan}},
    {"fp8_e5m2fnuz", 1, ElementKind::kFloat, "|u1", {5, 2, 16, Specials::kNegativeZeroNan}},
};

std::uint64_t load_bits(const std::byte* from, unsigned bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, bytes);
  return bits;
}

std::int64_t sign_extended(std::uint64_t bits, unsigned bytes) {
  const unsigned unused = 64 - 8 * bytes;
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

}  // namespace

double SmallFloat::value(std::uint32_t code) const {
  const std::uint32_t sign_bit = 1U << (exponent_bits + mantissa_bits);
  const std::uint32_t magnitude = code & (sign_bit - 1);
  const std::uint32_t exponent = magnitude >> mantissa_bits;
  const std::uint32_t mantissa = magnitude & ((1U << mantissa_bits) - 1);
  const double sign = (code & sign_bit) != 0 ? -1.0 : 1.0;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (specials == Specials::kIeee && exponent == (1U << exponent_bits) - 1)
    return mantissa != 0 ? kNan : sign * std::numeric_limits<double>::infinity();
  if (specials == Specials::kOneNan && magnitude == sign_bit - 1) return kNan;
  if (specials == Specials::kNegativeZeroNan && code == sign_bit) return kNan;
  const std::uint32_t significand = exponent == 0 ? mantissa : mantissa | 1U << mantissa_bits;
  const int scale = std::max(static_cast<int>(exponent), 1) - bias - static_cast<int>(mantissa_bits);
  return sign * std::ldexp(significand, scale);
}

std::uint32_t SmallFloat::code(double value) const {
  const std::uint32_t sign_bit = 1U << (exponent_bits + mantissa_bits);
  const std::uint32_t infinity = ((1U << exponent_bits) - 1) << mantissa_bits;
  std::uint32_t nan = sign_bit - 1;
  std::uint32_t largest = sign_bit - 1;
  if (specials == Specials::kIeee) nan = infinity | 1U << (mantissa_bits - 1), largest = infinity - 1;
  if (specials == Specials::kOneNan) largest = nan - 1;
  if (specials == Specials::kNegativeZeroNan) nan = sign_bit;
  const std::uint32_t sign = std::signbit(value) ? sign_bit : 0;
  if (specials != Specials::kNegativeZeroNan) nan |= sign;
  const std::uint32_t too_large = specials == Specials::kIeee ? sign | infinity : nan;
  if (std::isnan(value)) return nan;
  if (std::isinf(value)) return too_large;
  const int least = 1 - bias;
  const double magnitude = std::fabs(value);
  const int exponent = magnitude == 0 ? least : std::max(std::ilogb(magnitude), least);
  if (exponent - least >= 1 << exponent_bits) return too_large;
  const double units = std::nearbyint(std::ldexp(magnitude, static_cast<int>(mantissa_bits) - exponent));
  const auto rounded =
      (static_cast<std::uint32_t>(exponent - least) << mantissa_bits) + static_cast<std::uint32_t>(units);
  if (rounded > largest) return too_large;
  return rounded == 0 && specials == Specials::kNegativeZeroNan ? 0 : sign | rounded;
}

double Dtype::value(const std::byte* from) const {
  const std::uint64_t bits = load_bits(from, bytes);
  switch (kind) {
    case ElementKind::kBool:
      return bits != 0 ? 1 : 0;
    case ElementKind::kUnsigned:
      return static_cast<double>(bits);
    case ElementKind::kSigned:
      return static_cast<double>(sign_extended(bits, bytes));
    case ElementKind::kFloat:
      break;
  }
  if (bytes == 8) return std::bit_cast<double>(bits);
  if (bytes == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return format.value(static_cast<std::uint32_t>(bits));
}

bool Dtype::holds(double value) const {
  if (is_float()) return true;
  if (value != std::floor(value)) return false;  // NaN too
  if (kind == ElementKind::kBool) return value == 0 || value == 1;
  const int width = static_cast<int>(8 * bytes);
  if (kind == ElementKind::kUnsigned) return value >= 0 && value < std::ldexp(1.0, width);
  return value >= -std::ldexp(1.0, width - 1) && value < std::ldexp(1.0, width - 1);
}

void Dtype::store(double value, std::byte* to) const {
  if (!is_float()) {
    store_bits(kind == ElementKind::kSigned ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                                            : static_cast<std::uint64_t>(value),
               to);
  } else if (bytes == 8) {
    std::memcpy(to, &value, sizeof value);
  } else if (bytes == 4) {
    const auto single = static_cast<float>(value);
    std::memcpy(to, &single, sizeof single);
  } else {
    store_bits(format.code(value), to);
  }
}

void Dtype::store_bits(std::uint64_t bits, std::byte* to) const { std::memcpy(to, &bits, bytes); }

std::string Dtype::text(const std::byte* from) const {
  const std::uint64_t bits = load_bits(from, bytes);
  if (kind == ElementKind::kSigned) return std::to_string(sign_extended(bits, bytes));
  if (!is_float()) return std::to_string(bits);
  if (bytes == 4) return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return fmt::format("{}", value(from));
}

std::span<const Dtype> dtypes() { return kDtypes; }

const Dtype& dtype(std::string_view name, std::string_view where) {
  const auto* const found = std::ranges::find(kDtypes, name, &Dtype::name);
  if (found != std::end(kDtypes)) return *found;
  std::vector<std::string_view> names;
  for (const Dtype& each : kDtypes) names.push_back(each.name);
  throw UserError(fmt::format("{}: there is no dtype '{}'; there are {}", where, name, fmt::join(names, ", ")));
}

const Dtype* npy_dtype(std::string_view name) {
  // Bits of a type that NumPy lacks, as its extensions save them.
  if (name == "|V1" || name == "<V1") name = "|u1";
  if (name == "|V2" || name == "<V2") name = "<u2";
  const auto* const found = std::ranges::find(kDtypes, name, &Dtype::npy);
  return found != std::end(kDtypes) ? found : nullptr;
}

std::uint64_t element_count(const Shape& shape, unsigned bytes, std::string_view where) {
  std::uint64_t total = bytes;
  bool empty = false;
  for (const std::uint64_t extent : shape) {
    if (extent == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(total, extent, &total)) {
      throw UserError(fmt::format("{}: shape {} is larger than memory", where, shape_text(shape)));
    }
  }
  return empty ? 0 : total / bytes;
}

std::string shape_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

}  // namespace monojit::tools
