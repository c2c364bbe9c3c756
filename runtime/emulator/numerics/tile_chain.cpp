#include "runtime/emulator/numerics/tile_chain.h"

#include "runtime/emulator/numerics/division.h"
#include "runtime/emulator/numerics/matrix_vector.h"

namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE {
namespace {

/// Running values of kCount columns, in vectors where a vector fits.
template <class Value, int kCount>
struct Sums {
  static constexpr int kBytes =
      kCount * sizeof(Value) < kVectorBytes ? static_cast<int>(kCount * sizeof(Value)) : kVectorBytes;
  static constexpr int kPerVector = kBytes / static_cast<int>(sizeof(Value));
  static constexpr int kVectors = kCount / kPerVector;
  typedef Value Vector __attribute__((vector_size(kBytes), may_alias));  // NOLINT(modernize-use-using)

  Vector vector[kVectors];

  MONOJIT_LANE_FUNCTION void add_products(Value x, const Value* y) {
    for (int part = 0; part < kVectors; ++part)
      vector[part] = chain_step(x - Vector{}, load<Vector>(y + kPerVector * part), vector[part]);
  }
};

/// Reads C, runs the chain along the columns of each row, then writes all of D. `Value` is what the chain is made of.
template <std::size_t kShape, class Value>
struct Chain {
  static constexpr const TileShape& kTile = kTileShapes[kShape];
  static constexpr int kWords = kTile.has_f64_result() ? 2 : 1;  // of an element of C or D
  static constexpr int kResultRows = kTile.result_items() * kWords;

  alignas(64) std::uint32_t result[kResultRows][64];

  /// `start(bits of C)` is the value that the chain begins with, `finish(value, bits of C)` gives the bits of D.
  template <class Dense, class Start, class Finish>
  void run(const TileArguments& arguments, const Dense& dense, Start start, Finish finish) {
    for (int block = 0; block < kTile.blocks; ++block)
      for (int i = 0; i < kTile.m; ++i) {
        const Place place = result_place(kTile, block, i, 0);
        const int row = place.item * kWords;
        std::uint64_t c[kTile.n] = {};
        read_c(arguments, 64 * row + place.lane, c);
        Sums<Value, kTile.n> sums;
        Value values[kTile.n] = {};
        for (int j = 0; j < kTile.n; ++j) values[j] = start(c[j]);
        __builtin_memcpy(&sums, values, sizeof values);
        // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): gather_inputs fills all
        for (int k = 0; k < kTile.k; ++k) sums.add_products(dense.a[block][i][k], dense.b[block][k]);
        __builtin_memcpy(values, &sums, sizeof values);
        for (int j = 0; j < kTile.n; ++j) {
          const std::uint64_t bits = finish(values[j], c[j]);
          // NOLINTNEXTLINE(clang-analyzer-security.ArrayBound): a permutation of all places
          result[row][place.lane + j] = static_cast<std::uint32_t>(bits);
          if constexpr (kWords == 2) result[row + 1][place.lane + j] = static_cast<std::uint32_t>(bits >> 32);
        }
      }
    __builtin_memcpy(arguments.d, result, sizeof result);
  }

  static void read_c(const TileArguments& arguments, int offset, std::uint64_t* c) {
    for (int j = 0; j < kTile.n; ++j) {
      if (arguments.c == nullptr) {
        c[j] = kWords == 2 ? arguments.c_constant : static_cast<std::uint32_t>(arguments.c_constant);
      } else {
        c[j] = arguments.c[offset + j];
        if constexpr (kWords == 2) c[j] |= static_cast<std::uint64_t>(arguments.c[offset + 64 + j]) << 32;
      }
    }
  }
};

template <std::size_t kShape, class Value>
using Inputs = DenseInputs<Value, kTileShapes[kShape].blocks, kTileShapes[kShape].m, kTileShapes[kShape].k>;

template <std::size_t kShape>
void integer_tile(const TileArguments& arguments) {
  Inputs<kShape, std::int32_t> dense;
  gather_inputs<kShape, Chip::kGfx950, std::int32_t>(arguments, dense);
  Chain<kShape, std::int32_t> chain;
  const bool saturate = arguments.fp16_ovfl;
  chain.run(
      arguments, dense, [](std::uint64_t) { return 0; },  // 64 products stay far from the ends of 32 bits
      [saturate](std::int32_t products, std::uint64_t c) {
        const std::int64_t sum = std::int64_t{static_cast<std::int32_t>(c)} + products;
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
        // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): gather_inputs fills all
        for (double& value : row) value = -value;
  const std::uint64_t flip = static_cast<std::uint64_t>((arguments.blgp >> 2) & 1U) << 63;
  Chain<kShape, double> chain;
  chain.run(
      arguments, dense, [flip](std::uint64_t c) { return numerics::as_double(c ^ flip); },
      [](double sum, std::uint64_t) {
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
        arguments, dense, [](std::uint64_t c) { return numerics::as_float(static_cast<std::uint32_t>(c)); },
        [](float sum, std::uint64_t) -> std::uint64_t {
          const std::uint32_t bits = numerics::as_bits(sum);
          return numerics::select(numerics::is_nan(bits), numerics::kF32NaN, bits);
        });
  }
  return true;
}

namespace {

/// Exponents of the largest and of the smallest non-zero among some doubles; Inf and NaN are larger than all others.
struct Range {
  std::int64_t largest = -2000;
  std::int64_t smallest = 2000;

  template <std::size_t kCount>
  MONOJIT_LANE_FUNCTION void take(const double (&values)[kCount]) {
    // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): gather_inputs fills all
    for (const double value : values) {
      const std::uint64_t size = numerics::magnitude(numerics::as_bits(value));
      const std::int64_t exponent = static_cast<std::int64_t>(size >> 52) - 1023;
      const std::int64_t nonzero = size == 0 ? smallest : exponent;
      largest = exponent > largest ? exponent : largest;
      smallest = nonzero < smallest ? nonzero : smallest;
    }
  }
};

constexpr int mantissa_bits(Element element) {
  switch (element) {
    case Element::kF16:
      return 10;
    case Element::kBf16:
      return 7;
    case Element::kFp8:
      return 3;
    case Element::kBf8:
      return 2;
    default:
      return 23;
  }
}

/// MatrixModel::kExact, where the products' sum fits a double. C is added with a rounding to odd, so that the rounding
/// to f32 is the only one.
template <std::size_t kShape, Chip kChip>
bool exact_tile(const TileArguments& arguments) {
  constexpr const TileShape& kTile = kTileShapes[kShape];
  constexpr std::int64_t kDoubleBits = 53;
  constexpr std::int64_t kCarries = 2 + 6;  // a product is below 4 * 2^exponent, and there are at most 64
  if (arguments.fp16_ovfl) return false;
  Inputs<kShape, double> dense;
  gather_inputs<kShape, kChip, double>(arguments, dense);
  Range a;
  Range b;
  for (int block = 0; block < kTile.blocks; ++block) {
    for (const auto& row : dense.a[block]) a.take(row);
    for (const auto& row : dense.b[block]) b.take(row);
  }
  const std::int64_t lowest_bit = a.smallest + b.smallest - mantissa_bits(kTile.a) - mantissa_bits(kTile.b);
  if (a.largest + b.largest + kCarries - lowest_bit > kDoubleBits || a.largest > 1000 || b.largest > 1000) return false;
  Chain<kShape, double> chain;
  chain.run(
      arguments, dense, [](std::uint64_t) { return 0.0; },
      [](double products, std::uint64_t c) -> std::uint64_t {
        const auto addend = static_cast<std::uint32_t>(c);
        const double sum = numerics::add_to_odd(products, static_cast<double>(numerics::as_float(addend)));
        const std::uint32_t special = numerics::is_nan(addend) ? numerics::kF32NaN : addend;
        const std::uint32_t finite = numerics::as_bits(static_cast<float>(sum));
        return numerics::select(numerics::magnitude(addend) >= numerics::kF32Infinity, special, finite);
      });
  return true;
}

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

template <std::size_t kShape, Chip kChip>
constexpr TileKernel exact_kernel() {
  if constexpr (kTileShapes[kShape].a == Element::kI8 || kTileShapes[kShape].a == Element::kF64)
    return nullptr;
  else
    return exact_tile<kShape, kChip>;
}

struct KernelSet {
  TileKernel cdna3;
  TileKernel chain;  ///< of every model for f64 and i8; of kFmaChain for the others
  TileKernel exact;
};

template <std::size_t kShape, Chip kChip>
constexpr KernelSet kernel_set() {
  constexpr const TileShape& kTile = kTileShapes[kShape];
  if constexpr (kTile.a == Element::kF8f6f4)
    return {cdna3_kernel<kShape, kChip>(), nullptr, nullptr};
  else
    return {cdna3_kernel<kShape, kChip>(), chain_tile<kShape, kChip>, exact_kernel<kShape, kChip>()};
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
  if (model == MatrixModel::kExact) return set.exact;
  const bool chained = model == MatrixModel::kFmaChain || element == Element::kF32;
  return chained ? set.chain : set.cdna3;
}

}  // namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE
