// f8f6f4 tiles: the dot product of 32 k is exact, scaled and added to C with one rounding; blocks in rising k. FP4 by
// FP4 goes through bytes, everything else through doubles.
#include "runtime/emulator/numerics/tile_scaled.h"

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

/// Twice the value of each E2M1 code.
constexpr std::int8_t kTwiceFp4[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
constexpr int kFp4Bias = 12;  // makes B's bytes unsigned

/// FP4 as bytes, four k a word; the order of k within a block is that of the nibbles, the same for A and B.
template <int M, int K>
struct Fp4Tile {
  static constexpr int kBlocks = K / kScaleBlock;
  static constexpr int kWords = kScaleBlock / 4;  // of a lane, as bytes

  alignas(64) std::int32_t a[kBlocks][kWords][M];
  alignas(64) std::int32_t b[kBlocks][kWords][M];
  alignas(64) std::int32_t a_sum[kBlocks][M];  // of a block, times the bias

  Fp4Tile(const std::uint32_t* a_rows, const std::uint32_t* b_rows) {
    for (int block = 0; block < kBlocks; ++block)
      for (int row = 0; row < M; row += kWidth) {
        I16 sum = {};
        for (int r = 0; r < kWords / 2; ++r) {
          const int lane = kLanes * r + M * block + row;
          const auto a_word = load<U32>(a_rows + lane);
          const auto b_word = load<U32>(b_rows + lane);
          for (int half = 0; half < 2; ++half) {
            const I8 a_bytes = look_up(kTwiceFp4, reinterpret<I8>((a_word >> (4 * half)) & 0x0F0F0F0FU));
            const I8 b_bytes = look_up(kTwiceFp4, reinterpret<I8>((b_word >> (4 * half)) & 0x0F0F0F0FU));
            store(&a[block][2 * r + half][row], a_bytes);
            store(&b[block][2 * r + half][row], b_bytes + static_cast<std::int8_t>(kFp4Bias));
            sum += multiply_add_bytes(splat(std::int8_t{1}), a_bytes);
          }
        }
        store(&a_sum[block][row], multiply_add_halves(sum, splat(std::int16_t{1})) * kFp4Bias);
      }
  }
};

constexpr int kFp4Words = kScaleBlock / 4;

/// Four times the dot product of a block of some rows and a column, plus the rows' a_sum.
struct DotByPairs {
  template <int M>
  MONOJIT_LANE_FUNCTION static I32 dot(const I8 (&rows)[kFp4Words], const std::int32_t* column) {
    I16 sum = {};  // of 8 pairs of products below 12 * 24 each
    for (int word = 0; word < kFp4Words; ++word)
      sum += multiply_add_bytes(reinterpret<I8>(splat(column[M * word])), rows[word]);
    return multiply_add_halves(sum, splat(std::int16_t{1}));
  }
};

#if defined(__AVX512F__)
/// The same on processors with AVX-512 VNNI, which x86-64-v4 does not promise. In assembly, as an intrinsic would have
/// to be in functions for that target, which do not mix with the others.
struct DotByQuads {
  template <int M>
  MONOJIT_LANE_FUNCTION static I32 dot(const I8 (&rows)[kFp4Words], const std::int32_t* column) {
    I32 sum = {};
    for (int word = 0; word < kFp4Words; ++word)
      asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(splat(column[M * word])), "v"(rows[word]));
    return sum;
  }
};
#endif

template <int M>
MONOJIT_LANE_FUNCTION void canonicalise_nans(float (&column)[M]) {
  for (float& value : column) {
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
    constexpr int kReach = 100;  // of each scale alone and of their product
    const int low = a.smallest < b.smallest ? a.smallest : b.smallest;
    const int high = a.largest > b.largest ? a.largest : b.largest;
    return low >= kUnitScale - kReach && high <= kUnitScale + kReach &&
           a.smallest + b.smallest >= 2 * kUnitScale - kReach && a.largest + b.largest <= 2 * kUnitScale + kReach;
  }
};

/// Adds all blocks to the computed columns; `a` are the scales of the vectors' rows, `b` of the columns.
template <class Dot, int M, int K>
void add_fp4_blocks(const Fp4Tile<M, K>& tile, const ScaleCodes<M, K>& a, const ScaleCodes<M, K>& b,
                    Columns<M, M>& columns) {
  // The dot product is four times too large. Its product with both scales is exact, one after the other.
  alignas(64) float column_scale[K / kScaleBlock][M];
  for (int block = 0; block < K / kScaleBlock; ++block)
    for (int j = 0; j < M; j += kWidth)
      store(&column_scale[block][j], power_of_two(load<I32>(&b.code[block][j]) - kUnitScale - 2));

  for (int row = 0; row < M; row += kWidth)
    for (int block = 0; block < K / kScaleBlock; ++block) {
      const F32 row_scale = power_of_two(load<I32>(&a.code[block][row]) - kUnitScale);
      const I32 row_sum = load<I32>(&tile.a_sum[block][row]);
      I8 rows[kFp4Words];
      for (int word = 0; word < kFp4Words; ++word) rows[word] = load<I8>(&tile.a[block][word][row]);
      for (int n = 0; n < columns.count; ++n) {
        const int j = columns.computed[n];
        const I32 dot = Dot::template dot<M>(rows, &tile.b[block][0][j]) - row_sum;
        float* c = &columns.value[j][row];
        store(c, fused(to_float(dot) * row_scale, splat(column_scale[block][j]), load<F32>(c)));
      }
    }
}

template <int M, int K>
using AddFp4Blocks = void (*)(const Fp4Tile<M, K>&, const ScaleCodes<M, K>&, const ScaleCodes<M, K>&, Columns<M, M>&);

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
  if (columns.transposed) {
    const Fp4Tile<M, K> tile(arguments.b, arguments.a);
    kAddBlocks(tile, scales.b, scales.a, columns);
  } else {
    const Fp4Tile<M, K> tile(arguments.a, arguments.b);
    kAddBlocks(tile, scales.a, scales.b, columns);
  }
  for (int n = 0; n < columns.count; ++n) canonicalise_nans(columns.value[columns.computed[n]]);
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
