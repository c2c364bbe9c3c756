#pragma once

#include <algorithm>
#include <cmath>

namespace monojit::tests {

__extension__ typedef __int128 Int128;

/// mantissa * 2^exponent: the plain form in which the model's rules are written down below, one by one.
struct Dyadic {
  Int128 mantissa = 0;
  int exponent = 0;
};

inline Int128 magnitude(Int128 value) { return value < 0 ? -value : value; }

inline int leading_exponent(const Dyadic& x) {
  int bits = 0;
  for (Int128 rest = magnitude(x.mantissa); rest > 0; rest /= 2) ++bits;
  return bits - 1 + x.exponent;
}

inline Dyadic cut(Dyadic x, int unit) {  // towards zero
  for (; x.exponent < unit; ++x.exponent) x.mantissa /= 2;
  return x;
}

inline Dyadic round_down(Dyadic x, int unit) {
  for (; x.exponent < unit; ++x.exponent)
    x.mantissa = (x.mantissa - (x.mantissa % 2 != 0 && x.mantissa < 0 ? 1 : 0)) / 2;
  return x;
}

inline Dyadic add(Dyadic a, Dyadic b) {
  if (a.mantissa == 0) return b;
  if (b.mantissa == 0) return a;
  for (; a.exponent > b.exponent; --a.exponent) a.mantissa *= 2;
  for (; b.exponent > a.exponent; --b.exponent) b.mantissa *= 2;
  return {a.mantissa + b.mantissa, a.exponent};
}

inline float nearest_f32(const Dyadic& x) {
  if (x.mantissa == 0) return 0;
  const int unit = std::max(leading_exponent(x) - 23, -149);
  const Dyadic floor = round_down(x, unit);
  Int128 rounded = floor.mantissa;
  for (int e = floor.exponent; e > unit; --e) rounded *= 2;
  const Dyadic rest = add(x, {-rounded, unit});  // 0 .. one unit
  const Dyadic against_half = add(rest, {-1, unit - 1});
  if (against_half.mantissa > 0 || (against_half.mantissa == 0 && rounded % 2 != 0)) ++rounded;
  return static_cast<float>(std::ldexp(static_cast<double>(rounded), unit));
}

/// An f32 as significand and the model's exponent.
inline Dyadic dyadic(float x) {
  int exponent = 0;
  const double fraction = std::frexp(static_cast<double>(x), &exponent);
  return {static_cast<Int128>(std::ldexp(fraction, 30)), exponent - 30};
}

}  // namespace monojit::tests
