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
constexpr int kNoProductExponent = -1000;
constexpr int kFractionBits = 24;

template <Fp8 Kind>
MONOJIT_LANE_FUNCTION bool is_special(std::uint32_t code) {
  if constexpr (Kind == Fp8::kE4M3) return (code & 0x7FU) == 0x7FU;
  if constexpr (Kind == Fp8::kE5M2) return (code & 0x7FU) >= 0x7CU;
  return code == 0x80U;
}

template <Fp8 Kind>
MONOJIT_LANE_FUNCTION std::int32_t exponent_code(std::uint32_t code) {
  constexpr numerics::SmallFormat kFormat = numerics::fp8_traits(Kind).format;
  const auto field = static_cast<std::int32_t>((code & 0x7FU) >> kFormat.mantissa_bits);
  const std::int32_t exponent = (field < 1 ? 1 : field) - kFormat.bias;
  return (code & 0x7FU) == 0 ? kZeroCode : exponent;
}

/// A or B taken apart: rows (columns) are contiguous.
template <int kIndices, int K>
struct Side {
  alignas(64) double value[K][kIndices];
  alignas(64) std::uint32_t code[K / 4][kIndices];          // exponents of four k, a byte each
  alignas(64) std::int32_t smallest[K / kGroup][kIndices];  // exponent of a group's non-zero elements
};

template <Fp8 Kind, int kIndices, int K>
bool unpack(const std::uint32_t* rows, Side<kIndices, K>& side) {
  constexpr int kItems = K * kIndices / kLanes;
  for (auto& row : side.smallest)
    for (std::int32_t& smallest : row) smallest = -kZeroCode;
  std::uint32_t special = 0;
  for (int lanes = 0; lanes < kLanes / kIndices; ++lanes)
    for (int r = 0; r < kItems / 4; ++r) {
      const std::uint32_t* words = rows + kLanes * r + kIndices * lanes;
      const int k = kItems * lanes + 4 * r;
      for (int i = 0; i < kIndices; ++i) {
        std::uint32_t codes = 0;
        std::int32_t smallest = side.smallest[k / kGroup][i];
        for (int byte = 0; byte < 4; ++byte) {
          const std::uint32_t code = (words[i] >> (8 * byte)) & 0xFFU;
          special |= static_cast<std::uint32_t>(is_special<Kind>(code));
          const std::int32_t exponent = exponent_code<Kind>(code);
          const std::int32_t nonzero = exponent == kZeroCode ? -kZeroCode : exponent;
          smallest = nonzero < smallest ? nonzero : smallest;
          codes |= (static_cast<std::uint32_t>(exponent) & 0xFFU) << (8 * byte);
          constexpr numerics::SmallFormat kFormat = numerics::fp8_traits(Kind).format;
          side.value[k + byte][i] = static_cast<double>(numerics::as_float(
              numerics::widen_sign<kFormat>(code) | numerics::widen_magnitude<kFormat>(code & 0x7FU)));
        }
        side.code[k / 4][i] = codes;
        side.smallest[k / kGroup][i] = smallest;
      }
    }
  return special == 0;
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

  I32 bad = {};
  for (int n = 0; n < columns.count; ++n) {
    const int j = columns.computed[n];
    const Exponents exponents = largest_exponents<M>(a_code, &b.code[kWords * group][j]);
    const I32 largest = larger(exponents.even, exponents.odd);
    const I32 lowest_bit = a_smallest + splat(b.smallest[group][j] - kProductBits);
    I32 products;
    if (any(lowest_bit < largest - kFractionBits)) {
      products = cut_sums(a, b, group, row, j, exponents);
    } else {
      F64Pair sum = {};
      for (int k = kGroup * group; k < kGroup * group + kGroup; ++k) {
        const F64 factor = splat(b.value[k][j]);
        sum.low = fused(load<F64>(&a.value[k][row]), factor, sum.low);
        sum.high = fused(load<F64>(&a.value[k][row + kWidth / 2]), factor, sum.high);
      }
      products = truncate(sum * widen(power_of_two(kFractionBits - larger(largest, splat(kNoProduct)))));
    }
    const I32 exponent = largest < kNoProduct ? splat(kNoProductExponent) : largest;
    const F32 c = load<F32>(&columns.value[j][row]);
    store(&columns.value[j][row], add_group<true>(products, exponent, c, bad));
  }
  return bad;
}

}  // namespace

template <Fp8 kA, Fp8 kB, int M, int K>
bool fp8_tile(const TileArguments& arguments) {
  constexpr int kProductBits =
      numerics::fp8_traits(kA).format.mantissa_bits + numerics::fp8_traits(kB).format.mantissa_bits;
  Side<M, K> a;
  Side<M, K> b;
  if (!unpack<kA>(arguments.a, a) || !unpack<kB>(arguments.b, b)) return false;
  Columns<M, M> columns;
  columns.find_equal(arguments.b, K * M / kLanes / 4, arguments.c);
  columns.load_c(arguments);
  I32 bad = {};
  for (int row = 0; row < M; row += kWidth)
    for (int group = 0; group < K / kGroup; ++group) bad |= add_group_of_rows<kProductBits>(a, b, row, group, columns);
  if (any(bad)) return false;
  columns.store_d(arguments.d);
  return true;
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
