// Matrix programs. Inputs of the matrix core are small integers, whose sums are exact in any order.
#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include "tests/emulator/programs/program.h"

namespace monojit::emulator::test {
namespace {

constexpr u64 kSeed = 28;

TEST_CASE("a matrix with incomplete tiles is transposed through LDS") {
  Program program("matrix", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kWidth = 70, kHeight = 45;
  const std::vector<float> in = random_between(kWidth * kHeight, kSeed, -1.0f, 1.0f);
  const auto source = program.upload(in), out = program.allocate<float>(in.size());
  program.call("transpose", {.grid = {3, 2, 1}, .block = {32, 8, 1}}, {source, out, kWidth, kHeight});
  for (u32 i = 0; i < in.size(); ++i) REQUIRE(out[i % kWidth * kHeight + i / kWidth] == in[i]);
}

TEST_CASE("squares of halves are transposed through LDS") {
  Program program("matrix", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kSquares = 3, kSide = 16, kSquare = kSide * kSide;
  const std::vector<u16> in = random_bits<u16>(kSquares * kSquare, kSeed);
  const auto source = program.upload(in), out = program.allocate<u16>(in.size());
  program.call("transpose_halves", {.grid = {kSquares, 1, 1}}, {source, out});
  for (u32 i = 0; i < in.size(); ++i) {
    REQUIRE(out[i / kSquare * kSquare + i % kSide * kSide + i % kSquare / kSide] == in[i]);
  }
}

template <class T>
void check_product(Program& program, const char* kernel) {
  constexpr u32 kSide = 48;
  const std::vector<T> a = random_between<T>(kSide * kSide, kSeed, -1, 1),
                       b = random_between<T>(kSide * kSide, kSeed + 1, -1, 1);
  std::vector<T> c = random_between<T>(kSide * kSide, kSeed + 2, -1, 1);
  const auto da = program.upload(a), db = program.upload(b), dc = program.upload(c);
  constexpr T kAlpha = static_cast<T>(1.25), kBeta = static_cast<T>(-0.3);
  program.call(kernel, {.grid = {kSide / 16, kSide / 16, 1}, .block = {16, 16, 1}}, {da, db, dc, kSide, kAlpha, kBeta});
  for (u32 i = 0; i < c.size(); ++i) {
    T sum = 0;
    for (u32 k = 0; k < kSide; ++k) sum = std::fma(a[i / kSide * kSide + k], b[k * kSide + i % kSide], sum);
    REQUIRE(dc[i] == std::fma(kAlpha, sum, kBeta * c[i]));
  }
}

TEST_CASE("tiled products of floats and doubles are the host's in every bit") {
  Program program("matrix", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  check_product<float>(program, "multiply_float");
  check_product<double>(program, "multiply_double");
}

/// Runs a product of the matrix core, whose inputs are small integers as `encode` makes them.
template <class In, class Out, class Encode>
void check_matrix_core(Program& program, const char* kernel, u32 side, Encode encode) {
  constexpr u32 kDepth = 64, kRange = 15;
  const auto random = random_bits<u32>(2 * side * kDepth, kSeed);
  std::vector<i32> a(side * kDepth), b(side * kDepth);
  for (u32 i = 0; i < a.size(); ++i) {
    a[i] = static_cast<i32>(random[2 * i] % kRange) - 7;
    b[i] = static_cast<i32>(random[2 * i + 1] % kRange) - 7;
  }
  std::vector<In> left(a.size()), right(b.size());
  std::ranges::transform(a, left.begin(), encode);
  std::ranges::transform(b, right.begin(), encode);
  const auto da = program.upload(left), db = program.upload(right);
  const auto out = program.allocate<Out>(side * side);
  program.call(kernel, {}, {da, db, out, kDepth});
  for (u32 i = 0; i < side * side; ++i) {
    i32 sum = 0;
    for (u32 k = 0; k < kDepth; ++k) sum += a[i / side * kDepth + k] * b[k * side + i % side];
    INFO(kernel << ", row " << i / side << ", column " << i % side);
    REQUIRE(out[i] == static_cast<Out>(sum));
  }
}

/// -7..7 in E4M3 of the chip's kind: the exponent bias is 8 with one kind of NaN (gfx942) or 7 as OCP has it.
u8 fp8_of(i32 value, u32 bias) {
  if (value == 0) return 0;
  const u32 size = static_cast<u32>(std::abs(value)), exponent = static_cast<u32>(std::bit_width(size)) - 1;
  return static_cast<u8>((value < 0 ? 0x80 : 0) | (exponent + bias) << 3 | (size << (3 - exponent) & 7));
}

TEST_CASE("the matrix core multiplies every kind of number through builtins") {
  Program program("matrix", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kSide = 16;
  const u32 bias = program.variant().chip.chip == Chip::kGfx950 ? 7 : 8;
  check_matrix_core<_Float16, float>(program, "mfma_half", kSide, [](i32 v) { return static_cast<_Float16>(v); });
  check_matrix_core<u16, float>(program, "mfma_brain", kSide, [](i32 v) {
    return static_cast<u16>(std::bit_cast<u32>(static_cast<float>(v)) >> 16);
  });
  check_matrix_core<double, double>(program, "mfma_double", kSide, [](i32 v) { return static_cast<double>(v); });
  check_matrix_core<u8, i32>(program, "mfma_bytes", kSide, [](i32 v) { return static_cast<u8>(v); });
  check_matrix_core<u8, float>(program, "mfma_fp8", kSide, [&](i32 v) { return fp8_of(v, bias); });
  check_matrix_core<_Float16, float>(program, "mfma_wide", 2 * kSide, [](i32 v) { return static_cast<_Float16>(v); });
}

TEST_CASE("shortest ways between all nodes") {
  Program program("matrix", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kNodes = 32;
  constexpr i32 kFar = 1 << 28;
  std::vector<i32> distances = random_bits<i32>(kNodes * kNodes, kSeed);
  for (u32 i = 0; i < distances.size(); ++i) {
    const u32 size = static_cast<u32>(distances[i]);
    distances[i] = i % kNodes == i / kNodes ? 0 : size % 5 == 0 ? static_cast<i32>(size % 1000) : kFar;
  }
  const auto device = program.upload(distances);
  for (u32 middle = 0; middle < kNodes; ++middle) {
    program.call("shorten", {.grid = {2, 4, 1}, .block = {16, 8, 1}}, {device, kNodes, middle});
    for (u32 i = 0; i < distances.size(); ++i) {
      i32& way = distances[i];
      way = std::min(way, distances[i / kNodes * kNodes + middle] + distances[middle * kNodes + i % kNodes]);
    }
  }
  for (u32 i = 0; i < distances.size(); ++i) REQUIRE(device[i] == distances[i]);
}

/// Rows of different lengths, some empty, some longer than a wave.
struct Sparse {
  std::vector<u32> starts{0}, columns;
  explicit Sparse(u32 rows, u32 longest) {
    const auto random = random_bits<u32>(rows * (longest + 1), kSeed);
    for (u32 row = 0; row < rows; ++row) {
      const u32 length = row % 7 == 3 ? 0 : random[row] % (longest + 1);
      for (u32 i = 0; i < length; ++i) columns.push_back(random[rows + row * longest + i] % rows);
      starts.push_back(static_cast<u32>(columns.size()));
    }
  }
};

TEST_CASE("a sparse matrix times a vector") {
  Program program("matrix", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kRows = 40, kWave = 64;
  const Sparse sparse(kRows, 150);
  const std::vector<double> values = random_between(sparse.columns.size(), kSeed, -1.0, 1.0);
  const std::vector<double> x = random_between(kRows, kSeed + 1, -1.0, 1.0);
  const auto starts = program.upload(sparse.starts), columns = program.upload(sparse.columns);
  const auto device_values = program.upload(values), device_x = program.upload(x), y = program.allocate<double>(kRows);
  program.call("sparse_product", {.grid = {kRows, 1, 1}}, {starts, columns, device_values, device_x, y});
  for (u32 row = 0; row < kRows; ++row) {
    std::vector<double> sums(kWave, 0.0);
    for (u32 i = sparse.starts[row]; i < sparse.starts[row + 1]; ++i) {
      sums[(i - sparse.starts[row]) % kWave] += values[i] * x[sparse.columns[i]];
    }
    for (u32 half = kWave / 2; half > 0; half /= 2) {
      for (u32 i = 0; i < half; ++i) sums[i] += sums[i + half];
    }
    REQUIRE(y[row] == sums[0]);
  }
}

TEST_CASE("a breadth-first search keeps its queue by atomics") {
  Program program("matrix", GENERATE(from_range(variants())));
  INFO(program.variant().name());
  constexpr u32 kNodes = 300, kUnseen = ~0u;
  const Sparse graph(kNodes, 3);
  std::vector<u32> levels(kNodes, kUnseen);
  levels[0] = 0;
  const auto starts = program.upload(graph.starts), edges = program.upload(graph.columns);
  const auto device_levels = program.upload(levels);
  auto queue = program.upload(std::vector<u32>(kNodes, 0)), next = program.allocate<u32>(kNodes);
  const auto length = program.upload(std::vector<u32>{0});
  u32 queued = 1;
  for (u32 level = 1; queued > 0; ++level) {
    *length.data = 0;
    program.call("search_level", {.grid = {(queued + 63) / 64, 1, 1}},
                 {starts, edges, device_levels, queue, queued, next, length, level});
    queued = *length.data;
    std::swap(queue, next);
  }
  for (std::deque<u32> open{0}; !open.empty(); open.pop_front()) {
    for (u32 i = graph.starts[open.front()]; i < graph.starts[open.front() + 1]; ++i) {
      u32& level = levels[graph.columns[i]];
      if (level != kUnseen) continue;
      level = levels[open.front()] + 1;
      open.push_back(graph.columns[i]);
    }
  }
  for (u32 i = 0; i < kNodes; ++i) REQUIRE(device_levels[i] == levels[i]);
}

}  // namespace
}  // namespace monojit::emulator::test
