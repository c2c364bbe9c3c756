// f8f6f4 tiles: the dot product of 32 k is exact, scaled and added to C with one rounding; blocks in rising k. FP4 by
// FP4 goes through bytes, everything else through doubles.
#include "runtime/emulator/numerics/tile_scaled.h"

#include <utility>

#include "runtime/emulator/numerics/tile_kernels.h"

namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE {
namespace {

constexpr int kFp4 = 4;
constexpr int kDoubleBits = 53;

/// x + y rounded to odd, so that rounding it once more to f32 is as good as rounding the exact sum.
MONOJIT_LANE_FUNCTION F64 add_to_odd(F64 x, F64 y) {
  const F64 sum = x + y;
  const F64 y_part = sum - x;
  const F64 error = (x - (sum - y_part)) + (y - y_part);
  const I64 bits = reinterpret<I64>(sum);
  const I64 inexact = error != splat(0.0);  // -1 where true
  const I64 towards_zero = (reinterpret<I64>(error) ^ bits) < 0;
  const I64 step = ((1 + 2 * towards_zero) & inexact) & -(~bits & 1);
  return reinterpret<F64>(bits + step);
}

template <int M, int K>
struct ScaledTile {
  ScaledSide<M, K> a;
  ScaledSide<M, K> b;
  ScaleCodes<M, K> a_scale;
  ScaleCodes<M, K> b_scale;
  Columns<M, M> columns;

  /// Whether a block's dot product fits a double.
  static bool is_exact(const Spread& x, const Spread& y) {
    if (x.smallest > x.largest || y.smallest > y.largest) return true;  // all zero
    const int top = x.largest + y.largest + 2 + 5;                      // 32 products below 4 * 2^exponent each
    const int bottom = x.smallest + y.smallest - x.mantissa_bits - y.mantissa_bits;
    return top - bottom <= kDoubleBits;
  }

  void add_block(int block, int row) {
    const ScaledSide<M, K>& rows = columns.transposed ? b : a;
    const ScaledSide<M, K>& others = columns.transposed ? a : b;
    const ScaleCodes<M, K>& row_scales = columns.transposed ? b_scale : a_scale;
    const ScaleCodes<M, K>& other_scales = columns.transposed ? a_scale : b_scale;
    F64Pair dots[M];
    exact_dots_of_columns<kScaleBlock>(&rows.value[kScaleBlock * block][row], others.value[kScaleBlock * block],
                                       columns, dots);
    const I32 row_scale = load<I32>(&row_scales.code[block][row]) - 2 * kUnitScale;
    for (int n = 0; n < columns.count; ++n) {
      const int j = columns.computed[n];
      const F64Pair scaled = dots[n] * power_of_two_f64(row_scale + other_scales.code[block][j]);
      const F64Pair c = widen(load<F32>(&columns.value[j][row]));
      store(&columns.value[j][row], narrow({add_to_odd(scaled.low, c.low), add_to_odd(scaled.high, c.high)}));
    }
  }

  /// False if C or a result on the way is not finite: NaN and Inf go by other rules.
  [[nodiscard]] bool is_finite() const {
    std::uint32_t largest = 0;
    for (int n = 0; n < columns.count; ++n)
      for (int i = 0; i < M; ++i) {
        const std::uint32_t size = numerics::magnitude(numerics::as_bits(columns.value[columns.computed[n]][i]));
        largest = size > largest ? size : largest;
      }
    return largest < numerics::kF32Infinity;
  }
};

constexpr int kFp4Bias = 12;  // makes the rows' bytes unsigned
constexpr int kFp4Words = kScaleBlock / 4;

/// Chains of dot products that hide each other's latency; AVX2 has no registers for more than one.
constexpr int kColumnsTogether = kVectorBytes == 64 ? 8 : 1;

/// Twice the value of each E2M1 code.
constexpr std::int8_t kTwiceFp4[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
/// The same plus the bias.
constexpr std::int8_t kBiasedFp4[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};

/// An integer n added to the bits of this float makes it kFloatOffset + n, so that a dot product becomes a float
/// without a conversion.
constexpr float kFloatOffset = 0x1.8p23F;

/// A dot product of some rows, unsigned bytes, and a column, signed ones: a start and four products a word.
class DotByPairs {
 public:
  explicit DotByPairs(std::int32_t start) : start_(start) {}
  MONOJIT_LANE_FUNCTION void add(I8 rows, I8 column) { sum_ += multiply_add_bytes(rows, column); }
  MONOJIT_LANE_FUNCTION void add(I8 rows, const std::int32_t& column) { add(rows, reinterpret<I8>(splat(column))); }
  [[nodiscard]] MONOJIT_LANE_FUNCTION I32 total() const {
    return multiply_add_halves(sum_, splat(std::int16_t{1})) + start_;
  }

 private:
  I16 sum_ = {};  // of 8 pairs of products of at most 24 * 12 each
  std::int32_t start_;
};

#if defined(__AVX512F__)
/// The same on processors with AVX-512 VNNI, which x86-64-v4 does not promise. In assembly, as an intrinsic would have
/// to be in functions for that target, which do not mix with the others.
class DotByQuads {
 public:
  explicit DotByQuads(std::int32_t start) : sum_(splat(start)) {}
  MONOJIT_LANE_FUNCTION void add(I8 rows, I8 column) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum_) : "v"(rows), "v"(column));
  }
  MONOJIT_LANE_FUNCTION void add(I8 rows, const std::int32_t& column) {
    asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum_) : "v"(rows), "m"(column));
  }
  [[nodiscard]] MONOJIT_LANE_FUNCTION I32 total() const { return sum_; }

 private:
  I32 sum_;
};
#endif

/// FP4 as bytes, four k a word; the order of k within a block is that of the nibbles, the same for rows and columns.
template <class Dot, int M, int K>
struct Fp4Tile {
  static constexpr int kBlocks = K / kScaleBlock;

  alignas(64) std::int32_t rows[kBlocks][kFp4Words][M];  ///< biased
  alignas(64) std::int32_t columns[kBlocks][kFp4Words][M];
  /// Of a column's dot products: takes the rows' bias away and adds the bits of kFloatOffset.
  alignas(64) std::int32_t start[kBlocks][M];

  Fp4Tile(const std::uint32_t* row_codes, const std::uint32_t* column_codes) {
    for (int block = 0; block < kBlocks; ++block)
      for (int row = 0; row < M; row += kWidth) {
        Dot bias(0);
#pragma GCC unroll 8
        for (int word = 0; word < kFp4Words; ++word) {
          const int lane = kLanes * (word / 2) + M * block + row;
          const auto bytes = [&](const std::int8_t* table, const std::uint32_t* codes) {
            const U32 nibbles = load<U32>(codes + lane) >> (4 * (word % 2));
            return look_up(table, reinterpret<I8>(nibbles & 0x0F0F0F0FU));
          };
          store(&rows[block][word][row], bytes(kBiasedFp4, row_codes));
          const I8 column = bytes(kTwiceFp4, column_codes);
          store(&columns[block][word][row], column);
          bias.add(splat(std::int8_t{kFp4Bias}), column);
        }
        store(&start[block][row], __builtin_bit_cast(std::int32_t, kFloatOffset) - bias.total());
      }
  }
};

/// Gives the NaNs among the computed columns the chip's bits.
template <int M>
void canonicalise_nans(Columns<M, M>& columns) {
  F32 sum = {};  // NaN where a summand is, or where infinities cancel
  for (int n = 0; n < columns.count; ++n)
    for (int row = 0; row < M; row += kWidth) sum += load<F32>(&columns.value[columns.computed[n]][row]);
  if (!any(sum != sum)) return;
  for (int n = 0; n < columns.count; ++n)
    for (float& value : columns.value[columns.computed[n]]) {
      const std::uint32_t bits = numerics::as_bits(value);
      value = numerics::as_float(numerics::select(numerics::is_nan(bits), numerics::kF32NaN, bits));
    }
}

/// Scale codes of an FP4 tile; false if they are so far out that a scaled dot product might not be a normal f32.
template <int M, int K>
struct Fp4Scales {
  ScaleCodes<M, K> a;
  ScaleCodes<M, K> b;

  bool unpack(const TileArguments& arguments) {
    if (!a.unpack(arguments.scale_a, arguments.scale_byte_a)) return false;
    if (!b.unpack(arguments.scale_b, arguments.scale_byte_b)) return false;
    constexpr int kReach = 50;
    return !any((larger(a.largest, b.largest) > kUnitScale + kReach) |
                (smaller(a.smallest, b.smallest) < kUnitScale - kReach));
  }
};

/// A vector of a tile's rows in one block: what adding their products to columns needs.
template <class Dot, int M, int K>
class Fp4Rows {
 public:
  Fp4Rows(const Fp4Tile<Dot, M, K>& tile, I32 scale_codes, int block, int row) : tile_(tile), block_(block), row_(row) {
    scale_ = power_of_two(scale_codes - kUnitScale);
    for (int word = 0; word < kFp4Words; ++word) bytes_[word] = load<I8>(&tile.rows[block][word][row]);
  }

  MONOJIT_LANE_FUNCTION void add_to(Columns<M, M>& columns, const float (&column_scale)[M]) const {
    if (columns.count < M) return add_from<kColumnsTogether>(0, columns, column_scale);
    for (int n = 0; n < M; n += kColumnsTogether)
      add_to_some<kColumnsTogether>(ColumnsInARow{n}, column_scale, columns.value);
  }

 private:
  /// Their numbers need not be loaded.
  struct ColumnsInARow {
    int first;
    int operator[](int n) const { return first + n; }
  };

  /// From the n-th computed column on.
  template <int kTogether>
  MONOJIT_LANE_FUNCTION void add_from(int n, Columns<M, M>& columns, const float (&column_scale)[M]) const {
    for (; n + kTogether <= columns.count; n += kTogether)
      add_to_some<kTogether>(&columns.computed[n], column_scale, columns.value);
    if constexpr (kTogether > 1) {
      if (n < columns.count) add_from<kTogether / 2>(n, columns, column_scale);
    }
  }

  template <int kCount, class Numbers>
  MONOJIT_LANE_FUNCTION void add_to_some(Numbers columns, const float (&column_scale)[M], float (&value)[M][M]) const {
    I32 dots[kCount];
    dot_products<kCount>(columns, dots, std::make_integer_sequence<int, kCount>{});
    // Exact: kFloatOffset has two bits, the dot product 13, and the scales are far from the ends of the range.
    const F32 offset = scale_ * -kFloatOffset;
#pragma GCC unroll 8
    for (int n = 0; n < kCount; ++n) {
      float* c = &value[columns[n]][row_];
      const F32 scaled_dot = fused(reinterpret<F32>(dots[n]), scale_, offset);
      store(c, fused(scaled_dot, splat(column_scale[columns[n]]), load<F32>(c)));
    }
  }

  template <int kCount, class Numbers, int... kColumns>
  MONOJIT_LANE_FUNCTION void dot_products(Numbers columns, I32 (&dots)[kCount],
                                          std::integer_sequence<int, kColumns...> /*unused*/) const {
    Dot sums[] = {Dot(tile_.start[block_][columns[kColumns]])...};
#pragma GCC unroll 8
    for (int word = 0; word < kFp4Words; ++word)
      (sums[kColumns].add(bytes_[word], tile_.columns[block_][word][columns[kColumns]]), ...);
    ((dots[kColumns] = sums[kColumns].total()), ...);
  }

  const Fp4Tile<Dot, M, K>& tile_;
  int block_;
  int row_;
  F32 scale_;
  I8 bytes_[kFp4Words];
};

/// Adds all blocks to the computed columns.
template <class Dot, int M, int K>
void add_fp4_blocks(const std::uint32_t* row_codes, const std::uint32_t* column_codes, const ScaleCodes<M, K>& rows,
                    const ScaleCodes<M, K>& columns, Columns<M, M>& values) {
  const Fp4Tile<Dot, M, K> tile(row_codes, column_codes);
  for (int block = 0; block < K / kScaleBlock; ++block) {
    // The dot product is four times too large. Its product with both scales is exact, one after the other.
    alignas(64) float column_scale[M];
    for (int j = 0; j < M; j += kWidth)
      store(&column_scale[j], power_of_two(load<I32>(&columns.code[block][j]) - kUnitScale - 2));
    for (int row = 0; row < M; row += kWidth)
      Fp4Rows<Dot, M, K>(tile, load<I32>(&rows.code[block][row]), block, row).add_to(values, column_scale);
  }
}

template <int M, int K>
using AddFp4Blocks = void (*)(const std::uint32_t*, const std::uint32_t*, const ScaleCodes<M, K>&,
                              const ScaleCodes<M, K>&, Columns<M, M>&);

template <int M, int K>
AddFp4Blocks<M, K> quickest_fp4_blocks() {
#if defined(__AVX512F__)
  if (__builtin_cpu_supports("avx512vnni") != 0) return add_fp4_blocks<DotByQuads, M, K>;
#endif
  return add_fp4_blocks<DotByPairs, M, K>;
}

template <int M, int K>
bool fp4_tile(const TileArguments& arguments) {
  static const AddFp4Blocks<M, K> kAddBlocks = quickest_fp4_blocks<M, K>();
  Fp4Scales<M, K> scales;
  if (!scales.unpack(arguments)) return false;
  Columns<M, M> columns;
  columns.find_equal(arguments.b, M * K / 8 / kLanes, arguments.c, arguments.scale_b);
  columns.transpose_if_full();
  columns.load_c(arguments);
  if (columns.transposed)
    kAddBlocks(arguments.b, arguments.a, scales.b, scales.a, columns);
  else
    kAddBlocks(arguments.a, arguments.b, scales.a, scales.b, columns);
  canonicalise_nans(columns);
  columns.store_d(arguments.d);
  return true;
}

}  // namespace

template <int M, int K>
bool scaled_tile(const TileArguments& arguments) {
  if (arguments.fp16_ovfl) return false;
  if (arguments.cbsz == kFp4 && arguments.blgp == kFp4 && fp4_tile<M, K>(arguments)) return true;
  ScaledTile<M, K> tile;
  if (!tile.a_scale.unpack(arguments.scale_a, arguments.scale_byte_a)) return false;
  if (!tile.b_scale.unpack(arguments.scale_b, arguments.scale_byte_b)) return false;
  const Spread a = tile.a.unpack(arguments.cbsz, arguments.a);
  const Spread b = tile.b.unpack(arguments.blgp, arguments.b);
  if (a.special || b.special || !ScaledTile<M, K>::is_exact(a, b)) return false;
  tile.columns.find_equal(arguments.b, arguments.blgp < 2 ? 8 : (arguments.blgp < kFp4 ? 6 : 4), arguments.c,
                          arguments.scale_b);
  tile.columns.transpose_if_full();
  tile.columns.load_c(arguments);
  if (!tile.is_finite()) return false;
  for (int row = 0; row < M; row += kWidth)
    for (int block = 0; block < K / kScaleBlock; ++block) tile.add_block(block, row);
  if (!tile.is_finite()) return false;
  tile.columns.store_d(arguments.d);
  return true;
}

template bool scaled_tile<16, 128>(const TileArguments&);
template bool scaled_tile<32, 64>(const TileArguments&);

}  // namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE
