#include "runtime/emulator/numerics/matrix_sum.h"

#include <algorithm>
#include <bit>

#include "runtime/emulator/numerics/exact_sum.h"

namespace monojit::emulator::matrix {
namespace {

constexpr std::uint32_t kNan = 0x7FC00000U;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kSign = 0x80000000U;
constexpr int kNoProduct = -999;
constexpr int kFractionBits = 24;      // of a group's largest exponent
constexpr int kWideFractionBits = 32;  // of the final addition

/// Inf and NaN among the terms decide the result before any arithmetic.
struct Specials {
  bool nan = false;
  bool positive = false;
  bool negative = false;

  void add_infinity(bool is_negative) { (is_negative ? negative : positive) = true; }

  void add(const Number& x, const Number& y) {
    const bool any_infinite = x.kind == Number::Kind::kInfinite || y.kind == Number::Kind::kInfinite;
    const bool any_nan = x.kind == Number::Kind::kNan || y.kind == Number::Kind::kNan;
    if (any_nan || (any_infinite && (x.is_zero() || y.is_zero()))) {
      nan = true;
    } else if (any_infinite) {
      add_infinity(x.negative != y.negative);
    }
  }

  void add(const Number& c) {
    if (c.kind == Number::Kind::kNan) nan = true;
    if (c.kind == Number::Kind::kInfinite) add_infinity(c.negative);
  }

  [[nodiscard]] bool any() const { return nan || positive || negative; }
  [[nodiscard]] std::uint32_t result() const {
    if (nan || (positive && negative)) return kNan;
    return negative ? kSign | kInfinity : kInfinity;
  }
};

std::uint32_t saturated(std::uint32_t f32, bool saturate) {
  return saturate && (f32 & ~kSign) == kInfinity ? f32 - 1 : f32;
}

int product_exponent(const Number& x, const Number& y) { return x.exponent + y.exponent; }

/// floor(value * 2^shift); a zero's shift may be any, as it has no exponent.
std::int64_t shifted_down(std::int64_t value, int shift) {
  if (value == 0) return 0;
  if (shift >= 0) return value << shift;
  return value >> std::min(-shift, 63);
}

std::int64_t cut_to_zero(std::int64_t value, int shift) {
  if (value == 0) return 0;
  if (shift >= 0) return value << shift;
  const std::int64_t size = (value < 0 ? -value : value) >> std::min(-shift, 63);
  return value < 0 ? -size : size;
}

/// Some products, in units of 2^(exponent - 24).
struct Partial {
  std::int64_t sum = 0;
  int exponent = kNoProduct;
};

Partial truncated_products(const Dot& dot, int first, int end, int step) {
  Partial partial;
  for (int k = first; k < end; k += step)
    if (!dot.a[k].is_zero() && !dot.b[k].is_zero())
      partial.exponent = std::max(partial.exponent, product_exponent(dot.a[k], dot.b[k]));
  if (partial.exponent == kNoProduct) return partial;
  for (int k = first; k < end; k += step) {
    const int unit = dot.a[k].unit + dot.b[k].unit;
    partial.sum += cut_to_zero(dot.a[k].significand * dot.b[k].significand, unit - (partial.exponent - kFractionBits));
  }
  return partial;
}

/// Adds the running value to a group's products: all rounded down, then to 32 significant bits down, then to f32.
std::uint32_t add_rounding_down(const Partial& products, const Number& c, bool saturate) {
  const int exponent = std::max(products.exponent, c.exponent);
  const int unit = exponent - kWideFractionBits;
  const std::int64_t sum = shifted_down(products.sum, products.exponent - kFractionBits - unit);
  const std::int64_t addend = shifted_down(c.significand, c.unit - (exponent - kFractionBits))
                              << (kWideFractionBits - kFractionBits);
  std::int64_t total = sum + addend;
  if (total == 0) return 0;
  const int top = 63 - std::countl_zero(static_cast<std::uint64_t>(total < 0 ? -total : total));
  const int drop = std::max(top + unit, -126) - 31 - unit;
  if (drop > 0) total = (total >> drop) << drop;
  // At most 41 bits: exact in double, so the conversion to f32 is the one rounding to nearest.
  const double scale = std::bit_cast<double>(static_cast<std::uint64_t>(unit + 1023) << 52);
  return saturated(std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<double>(total) * scale)), saturate);
}

Specials group_specials(const Dot& dot, int first, int end, const Number& c) {
  Specials specials;
  specials.add(c);
  for (int k = first; k < end; ++k) specials.add(dot.a[k], dot.b[k]);
  return specials;
}

/// A product of 2^128 or more counts as Inf, even if another would cancel it.
void add_overflowing_products(const Dot& dot, int first, int end, Specials& specials) {
  for (int k = first; k < end; ++k) {
    const std::int64_t product = dot.a[k].significand * dot.b[k].significand;
    if (product == 0) continue;
    const int top = 63 - std::countl_zero(static_cast<std::uint64_t>(product < 0 ? -product : product));
    if (top + dot.a[k].unit + dot.b[k].unit >= 128) specials.add_infinity(product < 0);
  }
}

}  // namespace

std::uint32_t sum_truncated(const Dot& dot, int group) {
  std::uint32_t c = dot.c;
  for (int first = 0; first < dot.count; first += group) {
    const Number addend = decode(Format::kF32, c);
    Specials specials = group_specials(dot, first, first + group, addend);
    add_overflowing_products(dot, first, first + group, specials);
    if (specials.any()) {
      c = specials.result();
      continue;
    }
    c = add_rounding_down(truncated_products(dot, first, first + group, 1), addend, dot.saturate);
  }
  return c;
}

std::uint32_t sum_two_way_truncated(const Dot& dot) {
  constexpr int kGroup = 16;
  constexpr int kAddendReach = 25;
  std::uint32_t c = dot.c;
  for (int first = 0; first < dot.count; first += kGroup) {
    const int end = first + kGroup;
    Number addend = decode(Format::kF32, c);
    const Specials specials = group_specials(dot, first, end, addend);
    if (specials.any()) {
      c = specials.result();
      continue;
    }
    const Partial even = truncated_products(dot, first, end, 2);
    const Partial odd = truncated_products(dot, first + 1, end, 2);
    Partial both;
    both.exponent = std::max(even.exponent, odd.exponent);
    both.sum =
        shifted_down(even.sum, even.exponent - both.exponent) + shifted_down(odd.sum, odd.exponent - both.exponent);
    if (addend.exponent < std::max(both.exponent, addend.exponent) - kAddendReach) addend.significand = 0;
    c = add_rounding_down(both, addend, dot.saturate);
  }
  return c;
}

std::uint32_t sum_fused_chain(const Dot& dot) {
  std::uint32_t c = dot.c;
  for (int k = 0; k < dot.count; ++k) {
    const Number addend = decode(Format::kF32, c);
    const Specials specials = group_specials(dot, k, k + 1, addend);
    if (specials.any()) {
      c = specials.result();
      continue;
    }
    ExactSum sum;
    sum.add(dot.a[k].significand * dot.b[k].significand,
            dot.a[k].unit + dot.b[k].unit + (dot.scale == nullptr ? 0 : dot.scale[k / 32]));
    sum.add(addend.significand, addend.unit);
    c = saturated(sum.round_to_f32(), dot.saturate);
  }
  return c;
}

std::uint32_t sum_blocks_exactly(const Dot& dot, int block) {
  std::uint32_t c = dot.c;
  for (int first = 0; first < dot.count; first += block) {
    const Number addend = decode(Format::kF32, c);
    const Specials specials = group_specials(dot, first, first + block, addend);
    if (specials.any()) {
      c = specials.result();
      continue;
    }
    ExactSum sum;
    sum.add(addend.significand, addend.unit);
    for (int k = first; k < first + block; ++k)
      sum.add(dot.a[k].significand * dot.b[k].significand,
              dot.a[k].unit + dot.b[k].unit + (dot.scale == nullptr ? 0 : dot.scale[k / 32]));
    c = saturated(sum.round_to_f32(), dot.saturate);
  }
  return c;
}

}  // namespace monojit::emulator::matrix
