// f16 and bf16 tiles by CDNA3's rule (sum_truncated in matrix_sum.h, groups of 8), vectorised over the rows of A.
// Products are exact in f32; times a power of two they are converted to integers, which is the cut towards zero.
#include "runtime/emulator/numerics/tile_columns.h"
#include "runtime/emulator/numerics/tile_kernels.h"

namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE {
namespace {

constexpr int kGroup = 8;
constexpr int kZeroCode = -600;     // exponent codes of zero and of Inf or NaN: their sums with any other code stay
constexpr int kSpecialCode = 1500;  // outside the exponents that the kernel handles
constexpr int kLowestExponent = -100;
constexpr int kHighestExponent = 125;

template <bool kIsBf16>
struct HalfFormat {
  static constexpr int kMantissaBits = kIsBf16 ? 7 : 10;
  static constexpr int kBias = kIsBf16 ? 127 : 15;
  static constexpr std::int32_t kExponentMask = kIsBf16 ? 255 : 31;

  MONOJIT_LANE_FUNCTION static std::uint32_t value(std::uint32_t half) {
    if constexpr (kIsBf16) return half << 16;
    return numerics::widen_sign<numerics::kFormatF16>(half) |
           numerics::widen_magnitude<numerics::kFormatF16>(half & 0x7FFFU);
  }

  MONOJIT_LANE_FUNCTION static std::int32_t code(std::uint32_t half) {
    const auto field = static_cast<std::int32_t>(half >> kMantissaBits) & kExponentMask;
    const std::int32_t finite = (field < 1 ? 1 : field) - kBias;
    const std::int32_t any = field == kExponentMask ? kSpecialCode : finite;
    return (half & 0x7FFFU) == 0 ? kZeroCode : any;
  }
};

/// A or B taken apart: rows (columns) are contiguous.
template <int kIndices, int K>
struct Side {
  alignas(64) std::uint32_t value[K][kIndices];    // f32 bits
  alignas(64) std::int32_t code[K / 2][kIndices];  // exponents of k (low half) and k + 1
};

template <bool kIsBf16, int kIndices, int K>
void unpack(const std::uint32_t* rows, Side<kIndices, K>& side) {
  using Half = HalfFormat<kIsBf16>;
  constexpr int kItems = K * kIndices / kLanes;
  for (int group = 0; group < kLanes / kIndices; ++group)
    for (int r = 0; r < kItems / 2; ++r) {
      const std::uint32_t* words = rows + kLanes * r + kIndices * group;
      const int k = kItems * group + 2 * r;
      for (int i = 0; i < kIndices; ++i) {
        const std::uint32_t low = words[i] & 0xFFFFU;
        const std::uint32_t high = words[i] >> 16;
        side.value[k][i] = Half::value(low);
        side.value[k + 1][i] = Half::value(high);
        side.code[k / 2][i] = static_cast<std::int32_t>((static_cast<std::uint32_t>(Half::code(high)) << 16) |
                                                        (static_cast<std::uint32_t>(Half::code(low)) & 0xFFFFU));
      }
    }
}

/// Largest product exponent of a group, by rows.
MONOJIT_LANE_FUNCTION I32 largest_exponent(const I32 (&a_code)[kGroup / 2], const std::int32_t* const (&b_code)[4]) {
  I16 largest = reinterpret<I16>(a_code[0]) + reinterpret<I16>(splat(*b_code[0]));
  for (int r = 1; r < kGroup / 2; ++r)
    largest = larger(largest, reinterpret<I16>(a_code[r]) + reinterpret<I16>(splat(*b_code[r])));
  const I32 pair = reinterpret<I32>(largest);
  return larger((pair << 16) >> 16, pair >> 16);
}

template <bool kIsBf16, int M, int K>
MONOJIT_LANE_FUNCTION I32 add_groups_of_rows(const Side<M, K>& a, const Side<M, K>& b, int row, int group,
                                             Columns<M, M>& columns) {
  F32 a_value[kGroup];
  I32 a_code[kGroup / 2];
  for (int k = 0; k < kGroup; ++k) a_value[k] = load<F32>(&a.value[kGroup * group + k][row]);
  for (int r = 0; r < kGroup / 2; ++r) a_code[r] = load<I32>(&a.code[kGroup / 2 * group + r][row]);

  I32 bad = {};
  for (int n = 0; n < columns.count; ++n) {
    const int j = columns.computed[n];
    const std::int32_t* code = &b.code[kGroup / 2 * group][j];
    const std::uint32_t* factor = &b.value[kGroup * group][j];
    const I32 exponent = largest_exponent(a_code, {code, code + M, code + 2 * M, code + 3 * M});
    bad |= (exponent > kHighestExponent) | ((exponent < kLowestExponent) & (exponent > kZeroCode / 2));
    const F32 scale = power_of_two(24 - larger(exponent, splat(kLowestExponent)));
    U32 products = {};  // unsigned: lanes that will be called bad may wrap
    for (int k = 0; k < kGroup; ++k)
      products += reinterpret<U32>(truncate(a_value[k] * splat(numerics::as_float(factor[M * k])) * scale));
    const F32 c = load<F32>(&columns.value[j][row]);
    store(&columns.value[j][row], add_group(reinterpret<I32>(products), exponent, c, bad));
  }
  return bad;
}

}  // namespace

template <bool kIsBf16, int M, int K>
bool half_tile(const TileArguments& arguments) {
  Side<M, K> a;
  Side<M, K> b;
  Columns<M, M> columns;
  columns.find_equal(arguments.b, K * M / kLanes / 2, arguments.c);
  columns.load_c(arguments);
  unpack<kIsBf16>(arguments.a, a);
  unpack<kIsBf16>(arguments.b, b);
  I32 bad = {};
  for (int row = 0; row < M; row += kWidth)
    for (int group = 0; group < K / kGroup; ++group) bad |= add_groups_of_rows<kIsBf16>(a, b, row, group, columns);
  if (any(bad)) return false;
  columns.store_d(arguments.d);
  return true;
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
