// 8-bit float tiles by CDNA3's rule (sum_two_way_truncated in matrix_sum.h, groups of 16), vectorised over the rows of
// A. Nearly always no bit of any product lies below the rule's cut: then the sum is one exact chain in double. Else the
// two sums of even and odd k are cut and added as integers.
#include "runtime/emulator/numerics/tile_columns.h"
#include "runtime/emulator/numerics/tile_kernels.h"

namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE {
namespace {

using numerics::Fp8;

constexpr int kGroup = 16;
constexpr int kWords = kGroup / 4;  // four exponent codes a word
constexpr int kZeroCode = -60;      // exponent code of a zero: its sum with any other is below kNoProduct
constexpr int kNoProduct = -40;
constexpr int kFewColumns = 5;  // up to here it is quicker to look their values up one by one
constexpr int kFractionBits = 24;

/// A or B taken apart: rows (columns) are contiguous.
template <int kIndices, int K>
struct Side {
  alignas(64) double value[K][kIndices];
  alignas(64) std::uint32_t code[K / 4][kIndices];          // exponents of four k, a byte each
  alignas(64) std::int32_t smallest[K / kGroup][kIndices];  // exponent of a group's non-zero elements

  static constexpr int kItems = K * kIndices / kLanes;

  /// Exponents; false if an element is Inf or NaN.
  template <Fp8 Kind>
  bool unpack_exponents(const std::uint32_t* rows);
  template <Fp8 Kind>
  void unpack_values(const std::uint32_t* rows);
  /// The values of some of the indices only, of all groups.
  template <Fp8 Kind>
  void look_up_values(const std::uint32_t* rows, const std::uint8_t* indices, int count);
};

template <Fp8 Kind>
MONOJIT_LANE_FUNCTION I8 special_codes(I8 codes, I8 sizes) {
  if constexpr (Kind == Fp8::kE4M3) return sizes == 0x7F;
  if constexpr (Kind == Fp8::kE5M2) return sizes > 0x7B;
  return codes == -128;
}

template <int kIndices, int K>
template <Fp8 Kind>
bool Side<kIndices, K>::unpack_exponents(const std::uint32_t* rows) {
  constexpr numerics::SmallFormat kFormat = numerics::fp8_traits(Kind).format;
  constexpr std::int32_t kFieldMask = ((1 << kFormat.exponent_bits) - 1) * 0x01010101;
  I8 special = {};
  for (int lane = 0; lane < kLanes; lane += kWidth) {
    const int index = lane % kIndices;
    I8 least = splat(static_cast<std::int8_t>(-kZeroCode));
    for (int r = 0; r < kItems / 4; ++r) {
      const int k = kItems * (lane / kIndices) + 4 * r;
      const I32 words = load<I32>(rows + kLanes * r + lane);
      const I8 codes = reinterpret<I8>(words);
      const I8 sizes = codes & 0x7F;
      special |= special_codes<Kind>(codes, sizes);
      const I8 fields = reinterpret<I8>((words >> kFormat.mantissa_bits) & kFieldMask);
      const I8 exponents = larger(fields, splat(std::int8_t{1})) - static_cast<std::int8_t>(kFormat.bias);
      const I8 zero = sizes == 0;
      store(&code[k / 4][index], zero ? splat(static_cast<std::int8_t>(kZeroCode)) : exponents);
      const I8 nonzero = zero ? splat(static_cast<std::int8_t>(-kZeroCode)) : exponents;
      least = smaller(least, nonzero);
    }
    const I32 word = reinterpret<I32>(least);
    const I32 halves = smaller((word << 24) >> 24, (word << 16) >> 24);
    const I32 smallest_of_lane = smaller(halves, smaller((word << 8) >> 24, word >> 24));
    std::int32_t* to = &smallest[kItems * (lane / kIndices) / kGroup][index];
    const bool first = kItems * (lane / kIndices) % kGroup == 0;
    store(to, first ? smallest_of_lane : smaller(load<I32>(to), smallest_of_lane));
  }
  return !any(reinterpret<I32>(special) != 0);
}

template <int kIndices, int K>
template <Fp8 Kind>
void Side<kIndices, K>::unpack_values(const std::uint32_t* rows) {
  constexpr numerics::SmallFormat kFormat = numerics::fp8_traits(Kind).format;
  for (int lane = 0; lane < kLanes; lane += kWidth)
    for (int r = 0; r < kItems / 4; ++r) {
      const I32 words = load<I32>(rows + kLanes * r + lane);
      for (int byte = 0; byte < 4; ++byte) {
        const I32 element = words >> (8 * byte);
        const I32 sign = (words << (24 - 8 * byte)) & INT32_MIN;
        const F32 size = widen_magnitudes<kFormat>(element & 0x7F);
        const F64Pair wide = widen(reinterpret<F32>(reinterpret<I32>(size) | sign));
        double* to = &value[kItems * (lane / kIndices) + 4 * r + byte][lane % kIndices];
        store(to, wide.low);
        store(to + kWidth / 2, wide.high);
      }
    }
}

template <Fp8 Kind>
struct ValueTable {
  double value[256];
};

template <Fp8 Kind>
constexpr ValueTable<Kind> make_value_table() {
  constexpr numerics::SmallFormat kFormat = numerics::fp8_traits(Kind).format;
  ValueTable<Kind> table{};
  for (std::uint32_t code = 0; code < 256; ++code)
    table.value[code] = static_cast<double>(
        numerics::as_float(numerics::widen_sign<kFormat>(code) | numerics::widen_magnitude<kFormat>(code & 0x7FU)));
  return table;
}

template <Fp8 Kind>
constexpr ValueTable<Kind> kValueTable = make_value_table<Kind>();

template <int kIndices, int K>
template <Fp8 Kind>
void Side<kIndices, K>::look_up_values(const std::uint32_t* rows, const std::uint8_t* indices, int count) {
  for (int n = 0; n < count; ++n)
    for (int k = 0; k < K; k += 4) {
      const int index = indices[n];
      const std::uint32_t word = rows[kLanes * (k % kItems / 4) + kIndices * (k / kItems) + index];
      for (int byte = 0; byte < 4; ++byte)
        value[k + byte][index] = kValueTable<Kind>.value[(word >> (8 * byte)) & 0xFFU];
    }
}

/// Largest product exponents of a group's even and odd k.
struct Exponents {
  I32 even;
  I32 odd;
};

template <int M>
MONOJIT_LANE_FUNCTION Exponents largest_exponents(const I8 (&a_code)[kWords], const std::uint32_t* b_code) {
  I8 largest = a_code[0] + reinterpret<I8>(splat(static_cast<std::int32_t>(b_code[0])));
  for (int word = 1; word < kWords; ++word)
    largest = larger(largest, a_code[word] + reinterpret<I8>(splat(static_cast<std::int32_t>(b_code[M * word]))));
  const I32 codes = reinterpret<I32>(largest);
  return {larger((codes << 24) >> 24, (codes << 8) >> 24), larger((codes << 16) >> 24, codes >> 24)};
}

/// The products of every second k from `first`, each cut towards zero to units of 2^(exponent - 24).
template <int M, int K>
MONOJIT_LANE_FUNCTION I32 cut_products(const Side<M, K>& a, const Side<M, K>& b, int first, int row, int j,
                                       I32 exponent) {
  const F64Pair scale = power_of_two_f64(kFractionBits - larger(exponent, splat(kNoProduct)));
  I32 sum = {};
  for (int k = first; k < first + kGroup; k += 2) {
    const double* a_row = &a.value[k][row];
    const F64 factor = splat(b.value[k][j]);
    sum += truncate(F64Pair{load<F64>(a_row) * factor, load<F64>(a_row + kWidth / 2) * factor} * scale);
  }
  return sum;
}

template <int M, int K>
[[gnu::noinline]] I32 cut_sums(const Side<M, K>& a, const Side<M, K>& b, int group, int row, int j,
                               const Exponents& exponents) {
  const I32 exponent = larger(exponents.even, exponents.odd);
  const I32 even = cut_products(a, b, kGroup * group, row, j, exponents.even);
  const I32 odd = cut_products(a, b, kGroup * group + 1, row, j, exponents.odd);
  return (even >> smaller(exponent - exponents.even, splat(31))) +
         (odd >> smaller(exponent - exponents.odd, splat(31)));
}

/// `kProductBits`: how far the lowest bit of a product can lie below its exponent.
template <int kProductBits, int M, int K>
MONOJIT_LANE_FUNCTION I32 add_group_of_rows(const Side<M, K>& a, const Side<M, K>& b, int row, int group,
                                            Columns<M, M>& columns) {
  I8 a_code[kWords];
  for (int word = 0; word < kWords; ++word) a_code[word] = load<I8>(&a.code[kWords * group + word][row]);
  const I32 a_smallest = load<I32>(&a.smallest[group][row]);

  F64Pair dots[M];
  exact_dots_of_columns<kGroup>(&a.value[kGroup * group][row], b.value[kGroup * group], columns, dots);
  I32 bad = {};
  for (int n = 0; n < columns.count; ++n) {
    const int j = columns.computed[n];
    const Exponents exponents = largest_exponents<M>(a_code, &b.code[kWords * group][j]);
    const I32 largest = larger(exponents.even, exponents.odd);
    const I32 lowest_bit = a_smallest + splat(b.smallest[group][j] - kProductBits);
    F64Pair products = dots[n];
    if (any(lowest_bit < largest - kFractionBits)) [[unlikely]]
      products = widen(cut_sums(a, b, group, row, j, exponents)) *
                 power_of_two_f64(larger(largest, splat(kNoProduct)) - kFractionBits);
    const I32 exponent = largest < kNoProduct ? splat(kNoExponent) : largest;
    const F32 c = load<F32>(&columns.value[j][row]);
    store(&columns.value[j][row], add_exact_group(products, exponent, c, bad));
  }
  return bad;
}

template <int kProductBits, int M, int K>
bool add_all_groups(const Side<M, K>& a, const Side<M, K>& b, Columns<M, M>& columns) {
  I32 bad = {};
  for (int row = 0; row < M; row += kWidth)
    for (int group = 0; group < K / kGroup; ++group) bad |= add_group_of_rows<kProductBits>(a, b, row, group, columns);
  return !any(bad);
}

}  // namespace

template <Fp8 kA, Fp8 kB, int M, int K>
bool fp8_tile(const TileArguments& arguments) {
  constexpr int kProductBits =
      numerics::fp8_traits(kA).format.mantissa_bits + numerics::fp8_traits(kB).format.mantissa_bits;
  Side<M, K> a;
  Side<M, K> b;
  if (!a.template unpack_exponents<kA>(arguments.a) || !b.template unpack_exponents<kB>(arguments.b)) return false;
  Columns<M, M> columns;
  columns.find_equal(arguments.b, K * M / kLanes / 4, arguments.c);
  columns.transpose_if_full();
  columns.load_c(arguments);
  a.template unpack_values<kA>(arguments.a);
  if (columns.count > kFewColumns)
    b.template unpack_values<kB>(arguments.b);
  else
    b.template look_up_values<kB>(arguments.b, columns.computed, columns.count);
  const bool good =
      columns.transposed ? add_all_groups<kProductBits>(b, a, columns) : add_all_groups<kProductBits>(a, b, columns);
  if (good) columns.store_d(arguments.d);
  return good;
}

#define MONOJIT_FP8_TILES(a, b)                                         \
  template bool fp8_tile<Fp8::a, Fp8::b, 16, 32>(const TileArguments&); \
  template bool fp8_tile<Fp8::a, Fp8::b, 32, 16>(const TileArguments&);
MONOJIT_FP8_TILES(kE4M3, kE4M3)
MONOJIT_FP8_TILES(kE4M3, kE5M2)
MONOJIT_FP8_TILES(kE5M2, kE4M3)
MONOJIT_FP8_TILES(kE5M2, kE5M2)
MONOJIT_FP8_TILES(kE4M3Fnuz, kE4M3Fnuz)
MONOJIT_FP8_TILES(kE4M3Fnuz, kE5M2Fnuz)
MONOJIT_FP8_TILES(kE5M2Fnuz, kE4M3Fnuz)
MONOJIT_FP8_TILES(kE5M2Fnuz, kE5M2Fnuz)
#undef MONOJIT_FP8_TILES

}  // namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE
