// f16 and bf16 tiles by CDNA3's rule (sum_truncated in matrix_sum.h, groups of 8), vectorised over the rows of A (or,
// if all columns of B are computed, over these: the rule is symmetric). Products are exact in f32; times a power of two
// they are converted to integers, which is the cut towards zero.
#include "runtime/emulator/numerics/group_sum.h"
#include "runtime/emulator/numerics/tile_columns.h"
#include "runtime/emulator/numerics/tile_kernels.h"

namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE {
namespace {

constexpr int kGroup = 8;

template <bool kIsBf16>
struct HalfFormat {
  static constexpr int kMantissaBits = kIsBf16 ? 7 : 10;
  static constexpr int kBias = kIsBf16 ? 127 : 15;
  static constexpr std::int16_t kExponentMask = kIsBf16 ? 255 : 31;

  MONOJIT_LANE_FUNCTION static U32 value(U32 half) {
    if constexpr (kIsBf16) return half << 16;
    const U32 sign = (half & 0x8000U) << 16;
    return reinterpret<U32>(widen_magnitudes<numerics::kFormatF16>(reinterpret<I32>(half & 0x7FFFU))) | sign;
  }
};

/// Exponent of zero: its sum with an exponent of kLargestPlain or less is below kLowestExponent.
constexpr std::int16_t kZeroCode = -128;
constexpr int kLargestPlain = kLowestExponent - 1 - kZeroCode;

/// A or B taken apart: rows (columns) are contiguous.
template <bool kIsBf16, int kIndices, int K>
struct Side {
  using Half = HalfFormat<kIsBf16>;
  static constexpr int kItems = K * kIndices / kLanes;

  alignas(64) std::uint32_t value[K][kIndices];     // f32 bits
  alignas(64) std::uint32_t code[K / 4][kIndices];  // exponents of four k, a signed byte each, in some order
  I16 largest_field = {};                           // biased exponents

  explicit Side(const std::uint32_t* rows) {
    for (int lane = 0; lane < kLanes; lane += kWidth)
      for (int r = 0; r < kItems / 2; r += 2) {
        const int k = kItems * (lane / kIndices) + 2 * r;
        const int index = lane % kIndices;
        const U32 low = unpack(load<U32>(rows + kLanes * r + lane), k, index);
        const U32 high = unpack(load<U32>(rows + kLanes * (r + 1) + lane), k + 2, index);
        store(&code[k / 4][index], (low & 0x00FF00FFU) | ((high << 8) & 0xFF00FF00U));
      }
  }

  [[nodiscard]] bool has_special() const { return has_above(Half::kExponentMask - 1); }
  /// The exponent codes do.
  [[nodiscard]] bool is_plain() const { return !has_above(kLargestPlain + Half::kBias); }

 private:
  /// Stores the values of k and k + 1, returns their exponents as halves.
  MONOJIT_LANE_FUNCTION U32 unpack(U32 words, int k, int index) {
    store(&value[k][index], Half::value(words & 0xFFFFU));
    store(&value[k + 1][index], Half::value(words >> 16));
    const I16 halves = reinterpret<I16>(words);
    const I16 field = (halves >> Half::kMantissaBits) & Half::kExponentMask;
    largest_field = larger(largest_field, field);
    const I16 exponent = larger(field, splat(std::int16_t{1})) - static_cast<std::int16_t>(Half::kBias);
    return reinterpret<U32>((halves & std::int16_t{0x7FFF}) == 0 ? splat(kZeroCode) : exponent);
  }

  [[nodiscard]] bool has_above(int field) const {
    return any(reinterpret<I32>(largest_field > static_cast<std::int16_t>(field)) != 0);
  }
};

/// The products of some rows of A with one column of B (or the other way round), in units of 2^24 / scale; lanes whose
/// scale is wrong may wrap.
template <int M>
MONOJIT_LANE_FUNCTION I32 sum_products(const F32 (&rows)[kGroup], const std::uint32_t* column, F32 scale) {
  U32 products = {};
  for (int k = 0; k < kGroup; ++k)
    products += reinterpret<U32>(truncate(rows[k] * splat(numerics::as_float(column[M * k])) * scale));
  return reinterpret<I32>(products);
}

/// The largest exponent of a product from the codes, in lanes where it is not below kLowestExponent.
MONOJIT_LANE_FUNCTION I32 largest_exponent(const I8 (&rows)[2], const std::uint32_t* first,
                                           const std::uint32_t* second) {
  const auto sum = [](I8 row, const std::uint32_t* column) {
    return add_saturated(row, reinterpret<I8>(splat(static_cast<std::int32_t>(*column))));
  };
  const I8 word = larger(sum(rows[0], first), sum(rows[1], second));
  const I8 half = larger(word, reinterpret<I8>(reinterpret<U32>(word) >> 16));
  const I8 byte = larger(half, reinterpret<I8>(reinterpret<U32>(half) >> 8));
  return (reinterpret<I32>(byte) << 24) >> 24;
}

/// The same from the values, whatever they are; kNoProducts in lanes without any.
template <bool kIsBf16, int M>
MONOJIT_LANE_FUNCTION I32 any_largest_exponent(const F32 (&rows)[kGroup], const std::uint32_t* column) {
  constexpr int kSmallest = 1 - HalfFormat<kIsBf16>::kBias;
  const auto exponent = [](I32 bits) {
    const I32 size = bits & INT32_MAX;
    return size == 0 ? splat(2 * kNoProducts) : larger((size >> 23) - 127, splat(kSmallest));
  };
  I32 largest = splat(kNoProducts);
  for (int k = 0; k < kGroup; ++k)
    largest = larger(largest,
                     exponent(reinterpret<I32>(rows[k])) + exponent(splat(static_cast<std::int32_t>(column[M * k]))));
  return largest;
}

/// One group of one column, for all finite operands with exponents in range; else false.
template <bool kIsBf16, int M>
[[gnu::noinline]] bool add_any(const std::uint32_t* row_values, const std::uint32_t* column, float* sums) {
  F32 rows[kGroup];
  for (int k = 0; k < kGroup; ++k) rows[k] = load<F32>(row_values + M * k);
  const F32 c = load<F32>(sums);
  const I32 exponent = any_largest_exponent<kIsBf16, M>(rows, column);
  const I32 out_of_range = (exponent > kHighestExponent) | ((exponent < kLowestExponent) & (exponent != kNoProducts));
  const I32 special = (reinterpret<I32>(c) & INT32_MAX) >= 0x7F800000;
  const F32 scale = power_of_two(24 - larger(exponent, splat(kLowestExponent)));
  store(sums, add_far(sum_products<M>(rows, column, scale), exponent, c));
  return !any(out_of_range | special);
}

/// Adds one group of all computed columns; false as above.
template <bool kIsBf16, int M, int K>
bool add_group_of_rows(const Side<kIsBf16, M, K>& a, const Side<kIsBf16, M, K>& b, int row, int group, bool plain,
                       Columns<M, M>& columns) {
  const std::uint32_t* const row_values = &a.value[kGroup * group][row];
  F32 rows[kGroup];
  for (int k = 0; k < kGroup; ++k) rows[k] = load<F32>(row_values + M * k);
  const I8 row_codes[2] = {load<I8>(&a.code[2 * group][row]), load<I8>(&a.code[2 * group + 1][row])};
  bool good = true;
  for (int n = 0; n < columns.count; ++n) {
    const int j = columns.computed[n];
    float* const sums = &columns.value[j][row];
    const std::uint32_t* const column = &b.value[kGroup * group][j];
    const F32 c = load<F32>(sums);
    const GroupScale scale(largest_exponent(row_codes, &b.code[2 * group][j], &b.code[2 * group + 1][j]));
    if (plain && scale.is_near(c)) [[likely]] {
      store(sums, scale.add_near(sum_products<M>(rows, column, scale.up), c));
    } else if (plain && scale.is_reachable(c)) {
      store(sums, scale.add_reachable(sum_products<M>(rows, column, scale.up), c));
    } else {
      good &= add_any<kIsBf16, M>(row_values, column, sums);
    }
  }
  return good;
}

template <bool kIsBf16, int M, int K>
bool add_all_groups(const Side<kIsBf16, M, K>& a, const Side<kIsBf16, M, K>& b, Columns<M, M>& columns) {
  const bool plain = a.is_plain() && b.is_plain();
  for (int row = 0; row < M; row += kWidth)
    for (int group = 0; group < K / kGroup; ++group)
      if (!add_group_of_rows(a, b, row, group, plain, columns)) return false;
  return true;
}

}  // namespace

template <bool kIsBf16, int M, int K>
bool half_tile(const TileArguments& arguments) {
  const Side<kIsBf16, M, K> a(arguments.a);
  const Side<kIsBf16, M, K> b(arguments.b);
  if (a.has_special() || b.has_special()) return false;
  Columns<M, M> columns;
  columns.find_equal(arguments.b, K * M / kLanes / 2, arguments.c);
  columns.transpose_if_full();
  columns.load_c(arguments);
  const bool good = columns.transposed ? add_all_groups(b, a, columns) : add_all_groups(a, b, columns);
  if (good) columns.store_d(arguments.d);
  return good;
}

template bool half_tile<true, 16, 16>(const TileArguments&);
template bool half_tile<true, 16, 32>(const TileArguments&);
template bool half_tile<true, 32, 8>(const TileArguments&);
template bool half_tile<true, 32, 16>(const TileArguments&);
template bool half_tile<false, 16, 16>(const TileArguments&);
template bool half_tile<false, 16, 32>(const TileArguments&);
template bool half_tile<false, 32, 8>(const TileArguments&);
template bool half_tile<false, 32, 16>(const TileArguments&);

}  // namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE
