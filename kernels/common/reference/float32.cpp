#include "kernels/common/reference/float32.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace monojit::kernels::reference {
namespace {

/// Whether 1 / sqrt(x) is above (1), at (0) or below (-1) `point`, a number of at most 26 significant bits.
int side_of(double x, double point) {
  const double residual = std::fma(x, point * point, -1.0);  // one rounding: its sign is exact
  if (residual == 0) return 0;
  return residual < 0 ? 1 : -1;
}

/// Zero, of the same sign, for a denormal.
float flushed(float x) { return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0F, x) : x; }

constexpr int kDegree = 9;  // of the polynomial for 2^x
constexpr auto kInverseFactorials = [] {
  std::array<double, kDegree + 1> values{};
  double factorial = 1;
  for (int n = 0; n <= kDegree; ++n) {
    factorial *= std::max(n, 1);
    values[static_cast<std::size_t>(n)] = 1 / factorial;
  }
  return values;
}();

template <std::size_t N>
float butterfly_sum(std::array<float, N> values) {
  // Addition commutes, so each exchange leaves both partners with one sum; half of the lanes tell all.
  for (std::size_t distance = N / 2; distance > 0; distance /= 2) {
    for (std::size_t lane = 0; lane < distance; ++lane) values[lane] = values[lane] + values[lane + distance];
  }
  return values[0];
}

}  // namespace

float rcp(float x) { return flushed(static_cast<float>(1.0 / static_cast<double>(flushed(x)))); }

float exp2(float x) {
  if (std::isnan(x)) return x;
  constexpr double kLn2 = 0.6931471805599453;
  constexpr float kHighest = 129;  // from here on infinity
  constexpr float kLowest = -151;  // from here on zero
  const double power = std::min(std::max(flushed(x), kLowest), kHighest);
  const double whole = std::nearbyint(power);
  const double z = (power - whole) * kLn2;
  double sum = 0;
  for (int n = kDegree; n >= 0; --n) sum = sum * z + kInverseFactorials[static_cast<std::size_t>(n)];
  return flushed(static_cast<float>(std::ldexp(sum, static_cast<int>(whole))));
}

float rsq(float x) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (std::isnan(x)) return x;
  if (std::fabs(x) < std::numeric_limits<float>::min()) return std::signbit(x) ? -kInfinity : kInfinity;
  if (x < 0) return std::numeric_limits<float>::quiet_NaN();
  if (std::isinf(x)) return 0;
  const auto guess = static_cast<float>(1.0 / std::sqrt(static_cast<double>(x)));
  // A result is never half way between two floats (x would need more bits), so the midpoints decide.
  const float below = std::nextafterf(guess, 0.0F);
  const float above = std::nextafterf(guess, kInfinity);
  if (side_of(x, 0.5 * (static_cast<double>(guess) + above)) > 0) return above;
  if (side_of(x, 0.5 * (static_cast<double>(guess) + below)) < 0) return below;
  return guess;
}

float divide_by_reciprocal(float x, float d, float r) {
  const float a = x * r;
  return std::fma(std::fma(-a, d, x), r, a);
}

float maximum(float a, float b) {
  if (std::isnan(a)) return a;
  return a > b ? a : b;  // a NaN in b fails the comparison
}

float minimum(float a, float b) {
  if (std::isnan(a)) return a;
  return a < b ? a : b;
}

float wave_sum(Wave values) { return butterfly_sum(values); }

float half_wave_sum(HalfWave values) { return butterfly_sum(values); }

}  // namespace monojit::kernels::reference
