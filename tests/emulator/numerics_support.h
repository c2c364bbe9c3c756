// Operands for the tests of runtime/emulator/numerics: seeded, with the edge values that rounding and range rules turn
// on.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/emulator/numerics_lanes.h"

namespace monojit::emulator::numerics_test {

inline constexpr std::uint32_t kSeed = 20240607;

/// 32 random bits at a time.
class Random {
 public:
  std::uint32_t operator()() { return static_cast<std::uint32_t>(engine_()); }

 private:
  std::mt19937 engine_{kSeed};
};

inline float as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline std::uint32_t as_bits(float value) { return std::bit_cast<std::uint32_t>(value); }
inline double as_double(std::uint64_t bits) { return std::bit_cast<double>(bits); }
inline std::uint64_t as_bits(double value) { return std::bit_cast<std::uint64_t>(value); }
inline bool is_nan(std::uint32_t bits) { return std::isnan(as_float(bits)); }
inline bool is_nan(std::uint64_t bits) { return std::isnan(as_double(bits)); }

/// Equal bits, any NaN counting as equal to any other.
template <class Bits>
bool same(Bits x, Bits y) {
  return x == y || (is_nan(x) && is_nan(y));
}

/// Zeros, denormals, powers of two and their neighbours over the whole range, the ends, Inf, quiet and signalling NaN.
inline std::vector<std::uint32_t> f32_edges() {
  std::vector<std::uint32_t> edges = {
      0x00000000, 0x00000001, 0x00000002, 0x00400000, 0x007FFFFF, 0x00800000, 0x00800001, 0x7F7FFFFE, 0x7F7FFFFF,
      0x7F800000, 0x7F800001, 0x7FA00000, 0x7FC00000, 0x7FFFFFFF, 0x3F000000, 0x3F7FFFFF, 0x3F800000, 0x3F800001,
      0x4EFFFFFF, 0x4F000000, 0x4F7FFFFF, 0x4F800000, 0x43800000, 0x43800001, 0x4B000000, 0x4B000001, 0x4AFFFFFF};
  for (std::uint32_t exponent = 1; exponent < 255; ++exponent)
    for (const int step : {-1, 0, 1, 0x400000}) edges.push_back((exponent << 23) + static_cast<std::uint32_t>(step));
  const std::size_t positive = edges.size();
  for (std::size_t i = 0; i < positive; ++i) edges.push_back(edges[i] | 0x80000000U);
  return edges;
}

inline std::vector<std::uint64_t> f64_edges() {
  std::vector<std::uint64_t> edges;
  for (const std::uint32_t bits : f32_edges()) edges.push_back(as_bits(static_cast<double>(as_float(bits))));
  for (std::uint64_t exponent = 0; exponent < 2047; exponent += 31)
    for (const int step : {-1, 0, 1}) edges.push_back(((exponent + 1) << 52) + static_cast<std::uint64_t>(step));
  constexpr std::uint64_t kEnds[] = {0x0000000000000001U, 0x000FFFFFFFFFFFFFU, 0x7FEFFFFFFFFFFFFFU,
                                     0x7FF0000000000000U, 0x7FF0000000000001U, 0x7FF8000000000000U,
                                     0xFFF0000000000000U, 0x8000000000000001U};
  for (const std::uint64_t bits : kEnds) edges.push_back(bits);
  return edges;
}

/// Runs an operation over any number of operands, a row at a time; short rows repeat the last lane.
template <class Bits, class Operation>
std::vector<Bits> run(Operation operation, const std::vector<Bits>& a, const std::vector<Bits>& b = {},
                      const std::vector<Bits>& c = {}, bool flag = false) {
  std::vector<Bits> results(a.size());
  for (std::size_t first = 0; first < a.size(); first += kLanes) {
    RowOf<Bits> x, y, z, d;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::size_t i = std::min(first + lane, a.size() - 1);
      x.lane[lane] = a[i];
      if (!b.empty()) y.lane[lane] = b[i];
      if (!c.empty()) z.lane[lane] = c[i];
    }
    operation(d, x, y, z, flag);
    for (std::size_t lane = 0; lane < kLanes && first + lane < a.size(); ++lane) results[first + lane] = d.lane[lane];
  }
  return results;
}

/// One operation of the 64, on one lane's operands.
inline std::uint32_t run_one(LaneOperation operation, std::uint32_t x, std::uint32_t y = 0, std::uint32_t z = 0,
                             bool flag = false) {
  return run(operation, std::vector{x}, std::vector{y}, std::vector{z}, flag)[0];
}

/// Counts disagreements and keeps the first, so that a million comparisons are one assertion.
struct Disagreements {
  std::size_t count = 0;
  std::uint64_t operand = 0, operand2 = 0, got = 0, expected = 0;

  void note(bool agree, std::uint64_t x, std::uint64_t y, std::uint64_t result, std::uint64_t wanted) {
    if (agree) return;
    if (count++ == 0) operand = x, operand2 = y, got = result, expected = wanted;
  }
};

}  // namespace monojit::emulator::numerics_test

/// Fails with the first disagreement's operands.
#define REQUIRE_AGREEMENT(disagreements)                                                                   \
  do {                                                                                                     \
    const auto& noted = (disagreements);                                                                   \
    INFO(std::hex << "operands 0x" << noted.operand << ", 0x" << noted.operand2 << ": got 0x" << noted.got \
                  << ", expected 0x" << noted.expected);                                                   \
    REQUIRE(noted.count == 0);                                                                             \
  } while (false)
