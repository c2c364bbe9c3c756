// Half precision programs: packed arithmetic in every bit, a layer's parts within bounds.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include "tests/emulator/programs/program.h"

namespace monojit::emulator::test {
namespace {

using Half = _Float16;

constexpr u64 kSeed = 29;
constexpr double kHalfUnit = 0x1p-11;  ///< half a unit in the last place, relative

std::vector<Half> halves(std::size_t count, u64 seed, float low, float high) {
  const std::vector<float> values = random_between(count, seed, low, high);
  std::vector<Half> out;
  for (const float value : values) out.push_back(static_cast<Half>(value));
  return out;
}

/// One rounding: doubles hold sums, products and fused ones of halves exactly, and quotients and roots closely enough.
Half rounded(double value) { return static_cast<Half>(value); }

TEST_CASE("packed halves are added, multiplied, fused, divided and rounded as singles are") {
  Program program("half", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kPairs = 512, kResults = 12;
  std::vector<Half> a(2 * kPairs), b(2 * kPairs);
  const auto random = random_bits<u32>(2 * kPairs, kSeed);
  for (u32 i = 0; i < random.size(); ++i) {
    a[i] = std::bit_cast<Half>(static_cast<u16>(random[i]));
    b[i] = std::bit_cast<Half>(static_cast<u16>(random[i] >> 16));
    if (i % 3 == 0) b[i] = static_cast<Half>(static_cast<float>(a[i]) * 0.75f);
  }
  const auto da = program.upload(a), db = program.upload(b), out = program.allocate<Half>(2 * kPairs * kResults);
  program.call("packed_arithmetic", {.grid = {kPairs / 64, 1, 1}}, {da, db, out});
  for (u32 i = 0; i < 2 * kPairs; ++i) {
    const double x = a[i], y = b[i], x_other = a[i ^ 1], y_other = b[i ^ 1];
    const Half sum = rounded(x + y);
    const Half want[] = {sum,
                         rounded(x - y_other),
                         rounded(x * -y),
                         rounded(std::fma(x, y, -x_other)),
                         rounded(std::fmin(x, y)),
                         rounded(std::fmax(x, y)),
                         rounded(x / y),
                         rounded(std::sqrt(std::abs(x))),
                         rounded(std::floor(x) + std::trunc(y)),
                         rounded(std::rint(x) - std::ceil(y)),
                         rounded(std::fmin(std::fmax(static_cast<double>(sum), 0.0), 1.0)),
                         x < y ? b[i] : a[i]};
    for (u32 n = 0; n < kResults; ++n) {
      const Half got = out[(i / 2 * kResults + n) * 2 + i % 2];
      INFO("result " << n << " of " << x << " and " << y << ": " << static_cast<float>(got));
      // What clamp makes of a NaN is undefined.
      if (n == 10 && std::isnan(static_cast<float>(sum))) continue;
      if (std::isnan(static_cast<float>(want[n]))) {
        REQUIRE(std::isnan(static_cast<float>(got)));
      } else {
        REQUIRE(got == want[n]);
      }
    }
  }
}

TEST_CASE("elementary functions of halves") {
  Program program("half", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kCount = 256, kResults = 6;
  const std::vector<Half> in = halves(kCount, kSeed, -8.0f, 8.0f);
  const auto source = program.upload(in), out = program.allocate<Half>(kCount * kResults);
  program.call("elementary_half", {.grid = {kCount / 64, 1, 1}}, {source, out});
  constexpr double kUlps = 2;  // OpenCL's bounds for half precision
  for (u32 i = 0; i < kCount; ++i) {
    const double x = in[i];
    const double want[] = {std::exp(x), std::log(std::abs(x)), std::sin(x),
                           std::cos(x), std::tanh(x),          1 / std::sqrt(std::abs(x))};
    for (u32 n = 0; n < kResults; ++n) {
      INFO("result " << n << " of " << x);
      const double unit = std::ldexp(2 * kHalfUnit, std::max(std::ilogb(want[n]), -14));
      REQUIRE(std::abs(out[i * kResults + n] - want[n]) <= kUlps * unit);
    }
  }
}

TEST_CASE("rows are softmaxed by a wave") {
  Program program("half", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kRows = 5, kWidth = 150;
  const std::vector<Half> in = halves(kRows * kWidth, kSeed, -6.0f, 6.0f);
  const auto source = program.upload(in), out = program.allocate<Half>(in.size());
  program.call("softmax", {.grid = {kRows, 1, 1}}, {source, out, kWidth});
  constexpr double kBound = 1.1 * kHalfUnit, kSmallest = 0x1p-24;  // one rounding to half; floats hardly count
  for (u32 row = 0; row < kRows; ++row) {
    double sum = 0;
    for (u32 i = 0; i < kWidth; ++i) sum += std::exp(static_cast<double>(in[row * kWidth + i]));
    for (u32 i = 0; i < kWidth; ++i) {
      const double want = std::exp(static_cast<double>(in[row * kWidth + i])) / sum;
      REQUIRE(std::abs(out[row * kWidth + i] - want) <= kBound * want + kSmallest);
    }
  }
}

TEST_CASE("rows are normalised by mean and variance and by root mean square") {
  Program program("half", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kRows = 4, kWidth = 200;
  const std::vector<Half> in = halves(kRows * kWidth, kSeed, -2.0f, 3.0f),
                          gains = halves(kWidth, kSeed + 1, 0.5f, 1.5f);
  const auto source = program.upload(in), device_gains = program.upload(gains);
  const auto layer = program.allocate<Half>(in.size()), root = program.allocate<Half>(in.size());
  program.call("normalise", {.grid = {kRows, 1, 1}}, {source, layer, root, device_gains, kWidth});
  constexpr double kBound = 2.2 * kHalfUnit, kSmallest = 1e-5;  // two roundings to half, and floats near zero
  for (u32 row = 0; row < kRows; ++row) {
    double sum = 0, squares = 0;
    for (u32 i = 0; i < kWidth; ++i) {
      const double value = in[row * kWidth + i];
      sum += value;
      squares += value * value;
    }
    const double mean = sum / kWidth, square = squares / kWidth;
    for (u32 i = 0; i < kWidth; ++i) {
      const double value = in[row * kWidth + i], gain = gains[i];
      const double by_layer = (value - mean) / std::sqrt(square - mean * mean + 1e-5) * gain;
      const double by_root = value / std::sqrt(square + 1e-5) * gain;
      REQUIRE(std::abs(layer[row * kWidth + i] - by_layer) <= kBound * std::abs(by_layer) + kSmallest);
      REQUIRE(std::abs(root[row * kWidth + i] - by_root) <= kBound * std::abs(by_root) + kSmallest);
    }
  }
}

TEST_CASE("queries attend to the keys up to their own") {
  Program program("half", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kCount = 64, kHead = 32;
  const auto queries = halves(kCount * kHead, kSeed, -2.0f, 2.0f),
             keys = halves(kCount * kHead, kSeed + 1, -2.0f, 2.0f);
  const auto values = halves(kCount * kHead, kSeed + 2, -1.0f, 1.0f);
  const auto dq = program.upload(queries), dk = program.upload(keys), dv = program.upload(values);
  const auto out = program.allocate<Half>(kCount * kHead);
  program.call("attention", {.grid = {2, 1, 1}, .block = {32, 1, 1}}, {dq, dk, dv, out, kCount});
  constexpr double kBound = 1.1 * kHalfUnit + 1e-5;  // one rounding to half of numbers up to 1
  for (u32 query = 0; query < kCount; ++query) {
    double total = 0, sums[kHead] = {};
    for (u32 key = 0; key <= query; ++key) {
      double score = 0;
      for (u32 d = 0; d < kHead; ++d) score += double{queries[query * kHead + d]} * keys[key * kHead + d];
      const double weight = std::exp(score / std::sqrt(double{kHead}));
      total += weight;
      for (u32 d = 0; d < kHead; ++d) sums[d] += weight * values[key * kHead + d];
    }
    for (u32 d = 0; d < kHead; ++d) REQUIRE(std::abs(out[query * kHead + d] - sums[d] / total) <= kBound);
  }
}

}  // namespace
}  // namespace monojit::emulator::test
