// What the tile kernels share: a vector holds rows of A, the columns of B are walked one by one. Kernels run on decode
// batches whose unused columns are copies of the last one, so each run of equal columns is computed once.
#pragma once

#include "runtime/emulator/numerics/group_sum.h"
#include "runtime/emulator/numerics/matrix.h"
#include "runtime/emulator/numerics/matrix_shape.h"
#include "runtime/emulator/numerics/matrix_vector.h"

namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE {

inline constexpr int kLanes = 64;

typedef float Quad __attribute__((vector_size(16), may_alias));  // NOLINT(modernize-use-using)

/// Reads four rows of four floats, writes their transpose.
MONOJIT_LANE_FUNCTION void transpose_quad(const float* const (&from)[4], float* const (&to)[4]) {
  const auto r0 = load<Quad>(from[0]);
  const auto r1 = load<Quad>(from[1]);
  const auto r2 = load<Quad>(from[2]);
  const auto r3 = load<Quad>(from[3]);
  const Quad low01 = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
  const Quad high01 = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
  const Quad low23 = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
  const Quad high23 = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
  store(to[0], __builtin_shufflevector(low01, low23, 0, 1, 4, 5));
  store(to[1], __builtin_shufflevector(low01, low23, 2, 3, 6, 7));
  store(to[2], __builtin_shufflevector(high01, high23, 0, 1, 4, 5));
  store(to[3], __builtin_shufflevector(high01, high23, 2, 3, 6, 7));
}

/// The columns of one tile's result, and which of them are computed.
template <int M, int N>
struct Columns {
  static_assert(M == N);
  static constexpr std::uint32_t kAll = 0xFFFFFFFFU >> (32 - N);

  alignas(64) float value[N][M];  ///< C, then D, one column after the other
  std::uint8_t source[N];         ///< the computed column that this one equals
  std::uint8_t computed[N];       ///< numbers of the computed columns
  std::uint32_t in_use;           ///< the same as bits
  int count = 0;
  bool transposed = false;  ///< `value` holds rows of C and D in place of columns

  /// Offset of rows 4*quad .. 4*quad+3 in C or D: rows of registers at + 64*r, columns at + j.
  static constexpr int quad_offset(int quad) {
    constexpr int kGroups = 64 / N;
    return kLanes * 4 * (quad / kGroups) + N * (quad % kGroups);
  }

  /// Offset of row i.
  static constexpr int row_offset(int i) { return quad_offset(i / 4) + kLanes * (i % 4); }

  /// If hardly a column is saved, works on the rows of C and D, which lie ready in registers, with the roles of A and B
  /// exchanged. To be called after find_equal().
  void transpose_if_full() {
    constexpr int kGain = M / 4;  // transposing C and D costs as much as computing so many columns
    if (count <= N - kGain) return;
    transposed = true;
    count = M;
    for (int i = 0; i < M; ++i) computed[i] = static_cast<std::uint8_t>(i);
  }

  /// Finds the columns of B (and of C and of B's scales, both optional) that equal their left neighbour.
  void find_equal(const std::uint32_t* b, int b_rows, const std::uint32_t* c, const std::uint32_t* scale = nullptr) {
    U32 difference[N / kWidth] = {};
    std::uint32_t differs = 0;
    const auto add_rows = [&](const std::uint32_t* rows, int rows_count) {
      // Mostly the first row of B tells that all columns differ.
      for (int row = 0; row < rows_count && differs != kAll; ++row) {
        add_differences(rows + kLanes * row, difference);
        for (int part = 0; part < N / kWidth; ++part)
          differs |= sign_bits(reinterpret<I32>(difference[part] != 0)) << (kWidth * part);
        differs |= 1;
      }
    };
    add_rows(b, b_rows);
    if (c != nullptr) add_rows(c, M * N / kLanes);
    if (scale != nullptr) add_rows(scale, 1);
    in_use = differs;
    count = 0;
    if (differs == kAll) {
      for (; count < N; ++count) computed[count] = source[count] = static_cast<std::uint8_t>(count);
      return;
    }
    for (std::uint32_t rest = differs; rest != 0; rest &= rest - 1)
      computed[count++] = static_cast<std::uint8_t>(__builtin_ctz(rest));
    for (int j = 0; j < N; ++j)
      source[j] = static_cast<std::uint8_t>(31 - __builtin_clz(differs & (0xFFFFFFFFU >> (31 - j))));
  }

  void load_c(const TileArguments& arguments) {
    if (arguments.c == nullptr) {
      const float constant = numerics::as_float(static_cast<std::uint32_t>(arguments.c_constant));
      for (int n = 0; n < count; ++n)
        for (int i = 0; i < M; ++i) value[computed[n]][i] = constant;
      return;
    }
    const float* c = reinterpret_cast<const float*>(arguments.c);
    if (transposed) {
      for (int i = 0; i < M; ++i) __builtin_memcpy(value[i], c + row_offset(i), sizeof value[i]);
      return;
    }
    for (int j = 0; j < N; j += 4)
      for (int quad = 0; quad < M / 4 && ((in_use >> j) & 15U) != 0; ++quad) {
        const float* from = c + quad_offset(quad) + j;
        transpose_quad(
            {from, from + kLanes, from + 2 * kLanes, from + 3 * kLanes},
            {&value[j][4 * quad], &value[j + 1][4 * quad], &value[j + 2][4 * quad], &value[j + 3][4 * quad]});
      }
  }

  void store_d(std::uint32_t* rows) const {
    float* d = reinterpret_cast<float*>(rows);
    if (transposed) {
      for (int i = 0; i < M; ++i) __builtin_memcpy(d + row_offset(i), value[i], sizeof value[i]);
      return;
    }
    if (count == 1) {
      for (int quad = 0; quad < M / 4; ++quad)
        for (int r = 0; r < 4; ++r)
          for (int j = 0; j < N; j += kWidth)
            store(d + quad_offset(quad) + kLanes * r + j, splat(value[0][4 * quad + r]));
      return;
    }
    for (int quad = 0; quad < M / 4; ++quad)
      for (int j = 0; j < N; j += 4) {
        float* to = d + quad_offset(quad) + j;
        transpose_quad({&value[source[j]][4 * quad], &value[source[j + 1]][4 * quad], &value[source[j + 2]][4 * quad],
                        &value[source[j + 3]][4 * quad]},
                       {to, to + kLanes, to + 2 * kLanes, to + 3 * kLanes});
      }
  }

 private:
  MONOJIT_LANE_FUNCTION static void add_differences(const std::uint32_t* row, U32 (&difference)[N / kWidth]) {
    for (int lane = 0; lane < kLanes; lane += N)
      for (int part = 0; part < N / kWidth; ++part) {
        const auto here = load<U32>(row + lane + kWidth * part);
        const auto before = load<U32>(row + lane + (part == 0 ? N - kWidth : kWidth * (part - 1)));
        difference[part] |= here ^ shift_in(before, here);
      }
  }
};

/// Dot products of kCount k of a vector of rows with kColumns columns, as doubles, which must be able to hold them
/// exactly. Two chains each, for the sake of latency. a: first k of the rows; b: first k of column 0; M doubles from k
/// to k.
template <int M, int kCount, int kColumns>
MONOJIT_LANE_FUNCTION void exact_dots(const double* a, const double* b, const std::uint8_t* columns, F64Pair* dots) {
  F64Pair even[kColumns] = {};
  F64Pair odd[kColumns] = {};
  const auto step = [&](const double* a_row, const double* b_row, F64Pair(&sum)[kColumns]) {
    const auto low = load<F64>(a_row);
    const auto high = load<F64>(a_row + kWidth / 2);
#pragma GCC unroll 2
    for (int n = 0; n < kColumns; ++n) {
      const F64 factor = splat(b_row[columns[n]]);
      sum[n].low = fused(low, factor, sum[n].low);
      sum[n].high = fused(high, factor, sum[n].high);
    }
  };
#pragma GCC unroll 4
  for (int k = 0; k < kCount; k += 2) {
    step(a + M * k, b + M * k, even);
    step(a + M * (k + 1), b + M * (k + 1), odd);
  }
  for (int n = 0; n < kColumns; ++n) dots[n] = even[n] + odd[n];
}

/// The same with all of the computed columns, two at a time, which share the loads of the rows.
template <int kCount, int M, int N>
MONOJIT_LANE_FUNCTION void exact_dots_of_columns(const double* a, const double* b, const Columns<M, N>& columns,
                                                 F64Pair (&dots)[N]) {
  int n = 0;
  for (; n + 1 < columns.count; n += 2) exact_dots<M, kCount, 2>(a, b, &columns.computed[n], &dots[n]);
  if (n < columns.count) exact_dots<M, kCount, 1>(a, b, &columns.computed[n], &dots[n]);
}

/// The truncating rule's last step (group_sum.h) for products that are an exact double, and without a branch.
/// `exponent` is kNoExponent in lanes without a product, and above -95 in the others, as it is for 8-bit formats. A
/// small running value is dropped.
inline constexpr int kNoExponent = -1000;

MONOJIT_LANE_FUNCTION F32 add_exact_group(F64Pair products, I32 exponent, F32 c, I32& bad) {
  const I32 c_field = (reinterpret<I32>(c) >> 23) & 255;
  bad |= c_field == 255;
  const I32 c_exponent = larger(c_field, splat(1)) - 127;
  const I32 largest = larger(larger(exponent, c_exponent), splat(-95));  // the bound matters to no lane with products
  const F32 kept = c_exponent < largest - 25 ? splat(0.0F) : c;

  // In units of 2^(largest - 32): products and c are rounded down, c to 256 units, then the sum to 32 significant bits.
  const F64Pair scale = widen(power_of_two(32 - largest));
  const F64Pair wide_c = widen(kept);
  const auto add = [](F64 product, F64 unit, F64 addend) {
    const F64 whole_c = floor(addend * (unit * 0x1p-8));
    return round_down_to_32_bits(fused(whole_c, splat(256.0), floor(product * unit)));
  };
  const F64Pair total = {add(products.low, scale.low, wide_c.low), add(products.high, scale.high, wide_c.high)};
  const F32 sum = narrow(total) * power_of_two(largest - 32);
  return exponent == kNoExponent ? c + splat(0.0F) : sum;
}

}  // namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE
