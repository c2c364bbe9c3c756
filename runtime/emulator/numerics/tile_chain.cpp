#include "runtime/emulator/numerics/tile_chain.h"

namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE {
namespace {

/// Reads C, runs the chain along the columns of each row, then writes all of D.
template <std::size_t kShape, class Sum>
struct Chain {
  static constexpr const TileShape& kTile = kTileShapes[kShape];
  static constexpr int kSumWords = sizeof(Sum) == 8 && kTile.has_f64_result() ? 2 : 1;
  static constexpr int kResultRows = kTile.result_items() * kSumWords;

  alignas(64) std::uint32_t result[kResultRows][64];

  /// `read(low, high)` makes a running value of a result's words (bits alike for C and D), `write` the words of one.
  template <class Dense, class Read, class Write>
  void run(const TileArguments& arguments, const Dense& dense, Read read, Write write) {
    for (int block = 0; block < kTile.blocks; ++block)
      for (int i = 0; i < kTile.m; ++i) {
        const Place place = result_place(kTile, block, i, 0);
        const int row = place.item * kSumWords;
        Sum sum[kTile.n];
        for (int j = 0; j < kTile.n; ++j) {
          const int offset = 64 * row + place.lane + j;
          const std::uint64_t constant = arguments.c_constant;
          sum[j] = arguments.c == nullptr ? read(static_cast<std::uint32_t>(constant), constant >> 32)
                                          : read(arguments.c[offset], kSumWords == 2 ? arguments.c[offset + 64] : 0U);
        }
        for (int k = 0; k < kTile.k; ++k)
          for (int j = 0; j < kTile.n; ++j) sum[j] = chain_step(dense.a[block][i][k], dense.b[block][k][j], sum[j]);
        for (int j = 0; j < kTile.n; ++j) {
          const std::uint64_t bits = write(sum[j]);
          result[row][place.lane + j] = static_cast<std::uint32_t>(bits);
          if constexpr (kSumWords == 2) result[row + 1][place.lane + j] = static_cast<std::uint32_t>(bits >> 32);
        }
      }
    __builtin_memcpy(arguments.d, result, sizeof result);
  }
};

template <std::size_t kShape, class Value>
using Inputs = DenseInputs<Value, kTileShapes[kShape].blocks, kTileShapes[kShape].m, kTileShapes[kShape].k>;

template <std::size_t kShape>
void integer_tile(const TileArguments& arguments) {
  Inputs<kShape, std::int32_t> dense;
  gather_inputs<kShape, Chip::kGfx950, std::int32_t>(arguments, dense);
  Chain<kShape, std::int64_t> chain;
  const bool saturate = arguments.fp16_ovfl;
  chain.run(
      arguments, dense, [](std::uint32_t low, std::uint64_t) -> std::int64_t { return static_cast<std::int32_t>(low); },
      [saturate](std::int64_t sum) {
        const std::int64_t below = sum < INT32_MAX ? sum : INT32_MAX;
        const std::int64_t limited = below > INT32_MIN ? below : INT32_MIN;
        return static_cast<std::uint64_t>(saturate ? limited : sum);
      });
}

/// blgp negates A, B and C by its bits.
template <std::size_t kShape>
void double_tile(const TileArguments& arguments) {
  Inputs<kShape, double> dense;
  gather_inputs<kShape, Chip::kGfx950, double>(arguments, dense);
  const bool negate = ((arguments.blgp ^ (arguments.blgp >> 1)) & 1U) != 0;
  if (negate)
    for (auto& block : dense.a)
      for (auto& row : block)
        for (double& value : row) value = -value;
  const std::uint64_t flip = static_cast<std::uint64_t>((arguments.blgp >> 2) & 1U) << 63;
  Chain<kShape, double> chain;
  chain.run(
      arguments, dense,
      [flip](std::uint32_t low, std::uint64_t high) { return numerics::as_double((low | high << 32) ^ flip); },
      [](double sum) {
        const std::uint64_t bits = numerics::as_bits(sum);
        return numerics::select(numerics::is_nan(bits), numerics::kF64NaN, bits);
      });
}

}  // namespace

template <std::size_t kShape, Chip kChip>
bool chain_tile(const TileArguments& arguments) {
  constexpr const TileShape& kTile = kTileShapes[kShape];
  if constexpr (kTile.a == Element::kI8) {
    integer_tile<kShape>(arguments);
  } else if constexpr (kTile.a == Element::kF64) {
    double_tile<kShape>(arguments);
  } else {
    if (arguments.fp16_ovfl) return false;  // each step would have to saturate
    Inputs<kShape, float> dense;
    gather_inputs<kShape, kChip, float>(arguments, dense);
    Chain<kShape, float> chain;
    chain.run(
        arguments, dense, [](std::uint32_t low, std::uint64_t) { return numerics::as_float(low); },
        [](float sum) -> std::uint64_t {
          const std::uint32_t bits = numerics::as_bits(sum);
          return numerics::select(numerics::is_nan(bits), numerics::kF32NaN, bits);
        });
  }
  return true;
}

namespace {

template <std::size_t kShape, Chip kChip>
constexpr TileKernel cdna3_kernel() {
  constexpr const TileShape& kTile = kTileShapes[kShape];
  constexpr bool kFnuz = kChip == Chip::kGfx942;
  using numerics::Fp8;
  constexpr Fp8 kA =
      kTile.a == Element::kFp8 ? (kFnuz ? Fp8::kE4M3Fnuz : Fp8::kE4M3) : (kFnuz ? Fp8::kE5M2Fnuz : Fp8::kE5M2);
  constexpr Fp8 kB =
      kTile.b == Element::kFp8 ? (kFnuz ? Fp8::kE4M3Fnuz : Fp8::kE4M3) : (kFnuz ? Fp8::kE5M2Fnuz : Fp8::kE5M2);
  if constexpr (kTile.a == Element::kF8f6f4)
    return scaled_tile<kTile.m, kTile.k>;
  else if constexpr (kTile.a == Element::kFp8 || kTile.a == Element::kBf8)
    return fp8_tile<kA, kB, kTile.m, kTile.k>;
  else if constexpr ((kTile.a == Element::kF16 || kTile.a == Element::kBf16) && kTile.blocks == 1)
    return half_tile<kTile.a == Element::kBf16, kTile.m, kTile.k>;
  else
    return nullptr;
}

struct KernelSet {
  TileKernel cdna3;
  TileKernel chain;  ///< of every model for f32, f64 and i8; of kFmaChain for the others
};

template <std::size_t kShape, Chip kChip>
constexpr KernelSet kernel_set() {
  constexpr const TileShape& kTile = kTileShapes[kShape];
  if constexpr (kTile.a == Element::kF8f6f4)
    return {cdna3_kernel<kShape, kChip>(), nullptr};
  else
    return {cdna3_kernel<kShape, kChip>(), chain_tile<kShape, kChip>};
}

struct KernelTable {
  KernelSet set[2][kTileShapeCount];
};

template <std::size_t... kShapes>
constexpr KernelTable make_table(std::index_sequence<kShapes...>) {
  return {{{kernel_set<kShapes, Chip::kGfx942>()...}, {kernel_set<kShapes, Chip::kGfx950>()...}}};
}

constexpr KernelTable kKernels = make_table(std::make_index_sequence<kTileShapeCount>{});

}  // namespace

TileKernel find_kernel(std::size_t shape, Chip chip, MatrixModel model) {
  const KernelSet& set = kKernels.set[static_cast<int>(chip)][shape];
  const Element element = kTileShapes[shape].a;
  if (element == Element::kI8 || element == Element::kF64) return set.chain;
  if (model == MatrixModel::kExact) return nullptr;
  const bool chained = model == MatrixModel::kFmaChain || element == Element::kF32;
  return chained ? set.chain : set.cdna3;
}

}  // namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE
