// Elementary functions within OpenCL's bounds, exact ones in every bit.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include "tests/emulator/programs/program.h"

namespace monojit::emulator::test {
namespace {

constexpr u64 kSeed = 27;
constexpr u32 kCount = 256;
constexpr Shape kShape{.grid = {kCount / 64, 1, 1}};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Numbers of all sizes, with corners in front.
template <class T>
std::vector<T> numbers(u64 seed, int exponents) {
  const auto random = random_bits<u64>(kCount, kSeed + seed);
  std::vector<T> values(kCount);
  for (u32 i = 0; i < kCount; ++i) {
    const auto fraction = static_cast<T>(1) + static_cast<T>(random[i] >> 32) / static_cast<T>(0x1p32);
    const int exponent = static_cast<int>(random[i] % static_cast<u32>(2 * exponents)) - exponents;
    values[i] = std::ldexp(i % 2 == 0 ? fraction : -fraction, exponent);
  }
  constexpr double kCorners[] = {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, kInfinity, -kInfinity, 1.5, -2.5, 3.0, 1e-30};
  constexpr u32 kFew = std::size(kCorners);
  for (u32 i = 0; i < kFew * kFew; ++i) {
    values[i] = static_cast<T>(kCorners[seed == 0 ? i % kFew : i / kFew]);
  }
  values[kFew * kFew] = std::numeric_limits<T>::quiet_NaN();
  values[kFew * kFew + 1] = std::numeric_limits<T>::denorm_min();
  values[kFew * kFew + 2] = std::numeric_limits<T>::max();
  return values;
}

/// Whether `got` is `want` rounded, within `ulps` units of its last place.
template <class T>
bool near(T got, long double want, double ulps) {
  if (std::isnan(want)) return std::isnan(got);
  const T rounded = static_cast<T>(want);
  if (std::isinf(rounded) || std::isinf(got)) return got == rounded || std::nextafter(got, rounded) == rounded;
  constexpr int kDigits = std::numeric_limits<T>::digits, kLeast = std::numeric_limits<T>::min_exponent;
  const int exponent = want == 0 ? kLeast : std::max(std::ilogb(want) + 1, kLeast);
  return std::abs(static_cast<long double>(got) - want) <= ulps * std::ldexp(1.0L, exponent - kDigits);
}

struct Elementary {
  const char* name;
  long double (*function)(long double);
  double ulps;  ///< OpenCL's bound
};

/// sin(pi x), reduced without a rounding.
long double sine_of_turns(long double x) {
  const long double turn = std::remainder(x, 2.0L);
  const long double small = std::abs(turn) > 0.5L ? std::copysign(1 - std::abs(turn), turn) : turn;
  return std::sin(std::numbers::pi_v<long double> * small);
}

long double gamma_logarithm(long double x) { return std::lgamma(x); }

const Elementary kElementary[] = {
    {"sin", std::sin, 4},
    {"cos", std::cos, 4},
    {"tan", std::tan, 5},
    {"asin", std::asin, 4},
    {"acos", std::acos, 4},
    {"atan", std::atan, 5},
    {"sinh", std::sinh, 4},
    {"cosh", std::cosh, 4},
    {"tanh", std::tanh, 5},
    {"exp", std::exp, 3},
    {"exp2", std::exp2, 3},
    {"expm1", std::expm1, 3},
    {"log", [](long double x) { return std::log(std::abs(x)); }, 3},
    {"log2", [](long double x) { return std::log2(std::abs(x)); }, 3},
    {"log1p", [](long double x) { return std::log1p(std::abs(x)); }, 2},
    {"cbrt", std::cbrt, 2},
    {"erf", std::erf, 16},
    {"erfc", std::erfc, 16},
    {"lgamma", gamma_logarithm, 0},  // OpenCL gives no bound
    {"tgamma", [](long double x) { return x == 0 ? std::copysign(HUGE_VALL, x) : std::tgamma(x); }, 16},
    {"rsqrt", [](long double x) { return 1 / std::sqrt(std::abs(x)); }, 2},
    {"sinpi", sine_of_turns, 4},
    {"exp10", [](long double x) { return std::pow(10.0L, x); }, 3},
    {"log10", [](long double x) { return std::log10(std::abs(x)); }, 3},
    {"asinh", std::asinh, 4},
    {"atanh", std::atanh, 5},
};
constexpr u32 kElementaryCount = std::size(kElementary);

/// lgamma has roots where no relative bound can hold: its error is measured against 1 there.
constexpr double kGammaLogarithmUlps = 8;

template <class T>
void check_elementary(Program& program, const char* kernel, const std::vector<T>& in) {
  const auto source = program.upload(in), out = program.allocate<T>(kCount * kElementaryCount);
  program.call(kernel, kShape, {source, out});
  for (u32 i = 0; i < kCount; ++i) {
    for (u32 f = 0; f < kElementaryCount; ++f) {
      const Elementary& function = kElementary[f];
      const long double want = function.function(in[i]);
      const T got = out[i * kElementaryCount + f];
      INFO(function.name << "(" << in[i] << ") = " << got << ", not " << static_cast<T>(want));
      if (function.ulps != 0) {
        REQUIRE(near(got, want, function.ulps));
      } else if (std::isfinite(static_cast<T>(want))) {
        const long double scale = std::max(1.0L, std::abs(want));
        REQUIRE(std::abs(got - want) <= kGammaLogarithmUlps * scale * std::numeric_limits<T>::epsilon());
      }
    }
  }
}

TEST_CASE("elementary functions of doubles, arguments of up to 2^1000 among them") {
  Program program("math", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  std::vector<double> in = numbers<double>(0, 8);
  const std::vector<double> huge = numbers<double>(0, 1000);
  std::copy(huge.end() - 40, huge.end(), in.end() - 40);
  check_elementary(program, "elementary_double", in);
}

TEST_CASE("elementary functions of floats, huge arguments among them") {
  Program program("math", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  std::vector<float> in = numbers<float>(0, 6);
  const std::vector<float> huge = numbers<float>(0, 120);
  std::copy(huge.end() - 40, huge.end(), in.end() - 40);
  check_elementary(program, "elementary_float", in);
}

template <class T>
void check_of_two(Program& program, const char* kernel) {
  const std::vector<T> a = numbers<T>(0, 10), b = numbers<T>(1, 6);
  const auto da = program.upload(a), db = program.upload(b), out = program.allocate<T>(kCount * 4);
  program.call(kernel, kShape, {da, db, out});
  constexpr double kPow = 16, kAtan2 = 6, kHypot = 4;
  for (u32 i = 0; i < kCount; ++i) {
    const long double x = a[i], y = b[i];
    INFO(x << " and " << y);
    REQUIRE(near(out[4 * i], std::pow(std::abs(x), y), kPow));
    REQUIRE(near(out[4 * i + 1], std::atan2(x, y), kAtan2));
    REQUIRE(near(out[4 * i + 2], std::hypot(x, y), kHypot));
    if (std::isfinite(y) && std::abs(y) < 0x1p60L)
      REQUIRE(near(out[4 * i + 3], std::pow(x, static_cast<long double>(static_cast<int>(static_cast<i64>(y)) % 20)),
                   kPow));
  }
}

TEST_CASE("powers, angles and distances of doubles and floats") {
  Program program("math", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  check_of_two<double>(program, "of_two_double");
  check_of_two<float>(program, "of_two_float");
}

template <class T>
std::vector<T> exact_of(T x, T y) {
  int exponent = 0;
  T whole = 0;
  const T fraction = std::frexp(x, &exponent);
  if (!std::isfinite(x)) exponent = 0;
  const T rest = std::modf(x, &whole);
  return {x + y,
          x - y,
          x * y,
          x / y,
          std::sqrt(std::abs(x)),
          std::fma(x, y, -x),
          std::fmod(x, y),
          std::remainder(x, y),
          std::floor(x),
          std::ceil(x),
          std::trunc(x),
          std::rint(x),
          std::round(x),
          fraction,
          static_cast<T>(exponent),
          std::ldexp(x, exponent / 2 - 3),
          rest,
          whole,
          std::fmin(x, y),
          std::fmax(x, y),
          std::copysign(x, y),
          std::nextafter(x, y),
          std::fdim(x, y),
          std::logb(x)};
}

template <class T>
void check_exact(Program& program, const char* kernel, int exponents) {
  constexpr u32 kResults = 24;
  const std::vector<T> a = numbers<T>(0, exponents), b = numbers<T>(1, exponents);
  const auto da = program.upload(a), db = program.upload(b), out = program.allocate<T>(kCount * kResults);
  program.call(kernel, kShape, {da, db, out});
  for (u32 i = 0; i < kCount; ++i) {
    const std::vector<T> want = exact_of(a[i], b[i]);
    REQUIRE(want.size() == kResults);
    for (u32 n = 0; n < kResults; ++n) {
      const T got = out[i * kResults + n];
      INFO("result " << n << " of " << a[i] << " and " << b[i] << ": " << got << ", not " << want[n]);
      REQUIRE((std::isnan(want[n]) ? std::isnan(got) : got == want[n]));
      // fmin and fmax may take either zero.
      if (want[n] == 0 && n != 18 && n != 19) REQUIRE(std::signbit(got) == std::signbit(want[n]));
    }
  }
}

TEST_CASE("arithmetic, roots, remainders and rounding of doubles and floats are exact") {
  Program program("math", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  check_exact<double>(program, "exact_double", 1000);
  check_exact<double>(program, "exact_double", 10);
  check_exact<float>(program, "exact_float", 120);
  check_exact<float>(program, "exact_float", 10);
}

template <class T>
i64 saturated(long double value) {
  if (std::isnan(value)) return 0;
  constexpr auto kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
  if (value <= static_cast<long double>(kLow)) return static_cast<i64>(kLow);
  if (value >= static_cast<long double>(kHigh)) return static_cast<i64>(kHigh);
  return static_cast<i64>(static_cast<T>(value));
}

/// To the float on that side of a double.
float directed(double x, float toward) {
  const auto nearest = static_cast<float>(x);
  const bool wrong = toward > 0 ? nearest < x : nearest > x;
  return wrong ? std::nextafter(nearest, toward) : nearest;
}
i64 bits(float value) { return std::bit_cast<i32>(value); }
i64 bits(double value) { return std::bit_cast<i64>(value); }
i64 bits(_Float16 value) { return std::bit_cast<i16>(value); }

std::vector<i64> conversions_of(double x) {
  const auto f = static_cast<float>(x);
  const i64 i = saturated<i64>(x);
  const auto u = static_cast<u64>(i);
  constexpr float kUp = std::numeric_limits<float>::infinity();
  auto half = static_cast<_Float16>(f);
  if (std::abs(static_cast<float>(half)) > std::abs(f))
    half = std::bit_cast<_Float16>(static_cast<u16>(std::bit_cast<u16>(half) - 1));
  const auto s32 = static_cast<i32>(i);
  const auto u32_ = static_cast<u32>(u);
  return {saturated<i32>(x),
          saturated<u32>(x),
          saturated<i64>(x),
          saturated<u64>(x),
          saturated<i16>(x),
          saturated<u8>(x),
          saturated<i32>(f),
          saturated<u32>(f),
          saturated<i64>(f),
          saturated<u64>(f),
          saturated<i8>(std::rint(f)),
          saturated<i32>(std::ceil(x)),
          saturated<i32>(std::floor(f)),
          bits(f),
          bits(directed(x, x > 0 ? -kUp : kUp)),
          bits(directed(x, kUp)),
          bits(directed(x, -kUp)),
          bits(static_cast<float>(i)),
          bits(static_cast<float>(u)),
          bits(static_cast<double>(i)),
          bits(static_cast<double>(u)),
          bits(static_cast<float>(s32)),
          bits(static_cast<float>(u32_)),
          bits(static_cast<_Float16>(f)),
          bits(static_cast<float>(std::bit_cast<_Float16>(static_cast<i16>(i)))),
          bits(half),
          bits(static_cast<double>(s32)) ^ bits(static_cast<double>(u32_)),
          bits(static_cast<_Float16>(static_cast<i16>(i)))};
}

TEST_CASE("conversions saturate and round as they are told to") {
  Program program("math", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  std::vector<double> in = numbers<double>(1, 66);
  std::erase_if(in, [](double x) { return std::isnan(x) || std::abs(x) > 0x1p100; });
  in.resize(kCount, 65504.0);
  const std::vector<double> small = numbers<double>(1, 20);
  std::copy(small.end() - 80, small.end(), in.begin());
  constexpr u32 kResults = 28;
  const auto source = program.upload(in);
  const auto out = program.allocate<i64>(kCount * kResults);
  program.call("conversions", kShape, {source, out});
  for (u32 i = 0; i < kCount; ++i) {
    const std::vector<i64> want = conversions_of(in[i]);
    REQUIRE(want.size() == kResults);
    for (u32 n = 0; n < kResults; ++n) {
      INFO("result " << n << " of " << in[i]);
      REQUIRE(out[i * kResults + n] == want[n]);
    }
  }
}

TEST_CASE("options are priced by the formula of Black and Scholes") {
  Program program("math", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  const std::vector<float> price = random_between(kCount, kSeed, 5.0f, 30.0f);
  const std::vector<float> strike = random_between(kCount, kSeed + 1, 1.0f, 100.0f);
  const std::vector<float> years = random_between(kCount, kSeed + 2, 0.25f, 10.0f);
  const auto dp = program.upload(price), ds = program.upload(strike), dy = program.upload(years);
  const auto calls = program.allocate<float>(kCount), puts = program.allocate<float>(kCount);
  program.call("black_scholes", kShape, {dp, ds, dy, calls, puts});
  constexpr double kRate = 0.02, kVolatility = 0.3;
  constexpr double kBound = 1e-4;  // the polynomial is good to 7.5e-8 of prices up to 100, floats to about as much
  for (u32 i = 0; i < kCount; ++i) {
    const double s = price[i], k = strike[i], t = years[i], spread = kVolatility * std::sqrt(t);
    const double d1 = (std::log(s / k) + (kRate + kVolatility * kVolatility / 2) * t) / spread;
    const auto share = [](double d) { return std::erfc(-d / std::numbers::sqrt2) / 2; };
    const double discounted = k * std::exp(-kRate * t);
    REQUIRE(std::abs(calls[i] - (s * share(d1) - discounted * share(d1 - spread))) < kBound);
    REQUIRE(std::abs(puts[i] - (discounted * share(spread - d1) - s * share(-d1))) < kBound);
  }
}

TEST_CASE("bodies attract each other") {
  Program program("math", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  const std::vector<float> bodies = random_between(kCount * 4, kSeed, 0.0f, 1.0f);
  const auto source = program.upload(bodies), forces = program.allocate<float>(kCount * 4);
  program.call("attract", kShape, {source, forces, kCount});
  constexpr double kBound = 2e-5;
  for (u32 i = 0; i < kCount; ++i) {
    double sum[3] = {};
    for (u32 k = 0; k < kCount; ++k) {
      double way[3], square = 0.01;
      for (u32 axis = 0; axis < 3; ++axis) {
        way[axis] = double{bodies[4 * k + axis]} - bodies[4 * i + axis];
        square += way[axis] * way[axis];
      }
      for (u32 axis = 0; axis < 3; ++axis) sum[axis] += way[axis] * bodies[4 * k + 3] / (square * std::sqrt(square));
    }
    const double size = std::sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    for (u32 axis = 0; axis < 3; ++axis) REQUIRE(std::abs(forces[4 * i + axis] - sum[axis]) < kBound * size);
    const double mark = std::log(size) + std::sin(bodies[4 * i]) + std::exp(bodies[4 * i + 1]);
    REQUIRE(std::abs(forces[4 * i + 3] - mark) < kBound * 10);
  }
}

}  // namespace
}  // namespace monojit::emulator::test
