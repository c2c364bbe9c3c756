// The last step of the truncating rule (sum_truncated in matrix_sum.h) by vectors: a group's sum of products, an
// integer, and the running value c. With ed the largest exponent of a product and ec that of c, both are rounded down,
// the products to 2^(max(ec, ed) - 32) and c to 2^(max(ec, ed) - 24), then their sum to 32 significant bits, then to
// f32.
//
// Three forms, from the quickest to the one that takes everything. `products` is in units of 2^(ed - 24). At most 8 of
// them, each below 4 * 2^ed, make less than 2^29 units.
#pragma once

#include "runtime/emulator/numerics/matrix_vector.h"

namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE {

inline constexpr int kLowestExponent = -100;  ///< of a group's largest product: below, 2^(ed - 24) nears the denormals
inline constexpr int kHighestExponent = 125;
inline constexpr int kNoProducts = -600;  ///< in place of an exponent: all products are zero

inline constexpr std::int64_t kBelow32 = (1 << 21) - 1;  ///< mantissa bits of a double past the 32nd significant one

/// Rounds down (towards minus infinity) to 32 significant bits.
MONOJIT_LANE_FUNCTION F64 round_down_to_32_bits(F64 x) {
  const I64 bits = reinterpret<I64>(x);
  return reinterpret<F64>((bits + ((bits < 0) & kBelow32)) & ~kBelow32);
}

MONOJIT_LANE_FUNCTION F32 round_down_to_f32(F64Pair x) {
  return narrow({round_down_to_32_bits(x.low), round_down_to_32_bits(x.high)});
}

/// What the forms for ordinary operands need of ed.
struct GroupScale {
  I32 exponent;  ///< ed
  F32 up;        ///< 2^(24 - ed)
  F32 down;      ///< 2^(ed - 24)

  explicit GroupScale(I32 largest_exponent)
      : exponent(largest_exponent), up(power_of_two(24 - exponent)), down(power_of_two(exponent - 24)) {}

  /// Whether |c| < 2^(ed - 24 + kBits) in all lanes, and ed is in range.
  template <int kBits>
  [[nodiscard]] MONOJIT_LANE_FUNCTION bool is_below(F32 c) const {
    const I32 limit = reinterpret<I32>(down) + (kBits << 23);
    return all((exponent >= kLowestExponent) & ((reinterpret<I32>(c) & INT32_MAX) < limit));
  }

  /// add_near() can be used: ec - ed <= 5.
  [[nodiscard]] MONOJIT_LANE_FUNCTION bool is_near(F32 c) const { return is_below<30>(c); }

  /// add_reachable() can be used: ec - ed <= 38.
  [[nodiscard]] MONOJIT_LANE_FUNCTION bool is_reachable(F32 c) const { return is_below<63>(c); }

  /// c in units of 2^(ed - 24) and rounded down is what the rule wants if ec <= ed. If ec > ed it is exact, as c is a
  /// multiple of 2^(ec - 23), and so is the rule's own rounding. In both cases the sum is below 2^30 + 2^29 units, an
  /// i32. For it to have to drop anything at 2^(ec - 32) or for having more than 32 significant bits, ec - ed would
  /// have to be above 8 or the sum longer than an i32: the conversion to f32 is the one rounding. A unit of at least
  /// 2^-124 makes the last product exact, or an overflow to Inf.
  [[nodiscard]] MONOJIT_LANE_FUNCTION F32 add_near(I32 products, F32 c) const {
    return to_float(products + scale_down_to_int(c, up)) * down;
  }

  /// As before, but products are rounded down to 2^(ec - 32), which is 2^(ec - ed - 8) of our units, and the sum, which
  /// then spans at most 41 bits and is exact in double, to 32 significant bits.
  [[nodiscard]] MONOJIT_LANE_FUNCTION F32 add_reachable(I32 products, F32 c) const {
    const I32 distance = ((reinterpret<I32>(c) & INT32_MAX) - reinterpret<I32>(down)) >> 23;  // ec - ed + 24
    const I32 drop = larger(distance - 32, splat(0));
    const F64Pair sum = widen(scale_down(c, up)) + widen(products & (splat(-1) << drop));
    return round_down_to_f32(sum) * down;
  }
};

/// All finite c, and any exponent that is kNoProducts or from kLowestExponent on.
MONOJIT_LANE_FUNCTION F32 add_far(I32 products, I32 exponent, F32 c) {
  const I32 c_exponent = larger((reinterpret<I32>(c) >> 23) & 255, splat(1)) - 127;
  const I32 largest = larger(exponent, c_exponent);
  const F32 whole_c = scale_down(c, power_of_two(24 - largest));  // in units of 2^(largest - 24)

  // The products' units become those of 2^(largest - 32) where that is coarser; of at most 41 bits, the sum is exact.
  const I32 drop = larger(largest - exponent - 8, splat(0));
  const F64Pair wide_c = widen(whole_c * power_of_two(largest - exponent - drop));
  const F32 sum = round_down_to_f32(wide_c + widen(products >> smaller(drop, splat(31))));
  return exponent == kNoProducts ? c + splat(0.0F) : sum * power_of_two(exponent - 24 + drop);
}

}  // namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE
