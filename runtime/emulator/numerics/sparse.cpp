#include "runtime/emulator/numerics/sparse.h"

#include <algorithm>
#include <utility>

#include "runtime/emulator/numerics/matrix_scalar.h"
#include "runtime/emulator/numerics/sparse_shape.h"

namespace monojit::emulator {
namespace matrix {
namespace {

constexpr int kLanes = 64;
constexpr int kMaxK = 128;
constexpr int kMaxM = 32;
constexpr int kMaxResults = 32 * 32;

std::uint32_t read_item(const std::uint32_t* rows, int lane, int item, int width) {
  const int bit = item * width;
  return rows[kLanes * (bit / 32) + lane] >> (bit % 32) & ((1U << width) - 1);
}

/// One row of A, spread over k: stored values (as codes) where they belong, and which k of B each is multiplied with.
struct SparseRow {
  bool stored[kMaxK] = {};
  std::uint32_t code[kMaxK] = {};
  int source[kMaxK] = {};
};

/// The reference wants rising index pairs. Of a pair of equal ones both products count: the second takes another slot.
void spread_row(const SparseShape& shape, const SparseTileArguments& arguments, int i, SparseRow& row) {
  const int set = (arguments.cbsz & 3) == 0 ? arguments.abid & (shape.index_sets() - 1) : 0;
  for (int lane = i; lane < kLanes; lane += shape.m) {
    const std::uint32_t indices = arguments.index[lane] >> (set * 2 * shape.a_items() % 32);
    for (int item = 0; item < shape.a_items(); ++item) {
      const int first = sparse_quad(shape, lane / shape.m, item / 2);
      const int index = static_cast<int>(indices >> (2 * item) & 3U);
      int slot = first + index;
      if (row.stored[slot]) slot = first + (index + 1) % 4;
      row.stored[slot] = true;
      row.code[slot] = read_item(arguments.a, lane, item, shape.width());
      row.source[slot] = first + index;
    }
  }
}

/// Column j of B as codes, by k.
void gather_column(const SparseShape& shape, const SparseTileArguments& arguments, int j, std::uint32_t* codes) {
  for (int lane = j; lane < kLanes; lane += shape.m)
    for (int item = 0; item < shape.b_items(); ++item)
      codes[sparse_k(shape, lane / shape.m, item)] = read_item(arguments.b, lane, item, shape.width());
}

std::uint32_t integer_sum(const SparseShape& shape, const SparseRow& row, const std::uint32_t* column, std::uint32_t c,
                          bool saturate) {
  std::int64_t sum = static_cast<std::int32_t>(c);
  for (int k = 0; k < shape.k; ++k) {
    if (!row.stored[k]) continue;
    sum += std::int64_t{static_cast<std::int8_t>(row.code[k])} * static_cast<std::int8_t>(column[row.source[k]]);
  }
  if (saturate) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
  return static_cast<std::uint32_t>(sum);
}

struct Formats {
  Format a;
  Format b;
};

std::uint32_t float_sum(const SparseShape& shape, const Formats& formats, MatrixModel model, const SparseRow& row,
                        const std::uint32_t* column, std::uint32_t c, bool saturate) {
  Number a[kMaxK];  // zero where A stores nothing: such a term is not even Inf * 0
  Number b[kMaxK];
  for (int k = 0; k < shape.k; ++k) {
    if (!row.stored[k]) continue;
    a[k] = decode(formats.a, row.code[k]);
    b[k] = decode(formats.b, column[row.source[k]]);
  }
  return sum_products(shape.a, model, {.a = a, .b = b, .count = shape.k, .c = c, .saturate = saturate});
}

void sparse_tile(const SparseShape& shape, Chip chip, MatrixModel model, const SparseTileArguments& arguments) {
  static thread_local SparseRow rows[kMaxM];
  static thread_local std::uint32_t columns[kMaxM][kMaxK];
  for (int i = 0; i < shape.m; ++i) {
    rows[i] = {};
    spread_row(shape, arguments, i, rows[i]);
    gather_column(shape, arguments, i, columns[i]);
  }
  const bool integers = shape.a == Element::kI8;
  const Formats formats{element_format(shape.a, chip, 0), element_format(shape.b, chip, 0)};
  std::uint32_t results[kMaxResults];
  for (int i = 0; i < shape.m; ++i)
    for (int j = 0; j < shape.m; ++j) {
      const Place place = sparse_result_place(shape, i, j);
      const int offset = kLanes * place.item + place.lane;
      const std::uint32_t c = arguments.d[offset];
      results[offset] = integers ? integer_sum(shape, rows[i], columns[j], c, arguments.fp16_ovfl)
                                 : float_sum(shape, formats, model, rows[i], columns[j], c, arguments.fp16_ovfl);
    }
  std::copy_n(results, kLanes * shape.result_items(), arguments.d);
}

/// A SparseTileFunction carries no state: each combination is a function of its own.
template <std::size_t kShape, Chip kChip, MatrixModel kModel>
void run_sparse_tile(const SparseTileArguments& arguments) {
  sparse_tile(kSparseShapes[kShape], kChip, kModel, arguments);
}

struct SparseTable {
  SparseTileFunction functions[kSparseShapeCount][2][3];  // chip, model
};

template <std::size_t kShape, Chip kChip>
constexpr void fill(SparseTable& table) {
  constexpr unsigned kWanted = kChip == Chip::kGfx942 ? kOnGfx942 : kOnGfx950;
  if ((kSparseShapes[kShape].chips & kWanted) == 0) return;
  auto& functions = table.functions[kShape][static_cast<int>(kChip)];
  functions[static_cast<int>(MatrixModel::kCdna3)] = run_sparse_tile<kShape, kChip, MatrixModel::kCdna3>;
  functions[static_cast<int>(MatrixModel::kFmaChain)] = run_sparse_tile<kShape, kChip, MatrixModel::kFmaChain>;
  functions[static_cast<int>(MatrixModel::kExact)] = run_sparse_tile<kShape, kChip, MatrixModel::kExact>;
}

template <std::size_t... kShapes>
constexpr SparseTable make_table(std::index_sequence<kShapes...>) {
  SparseTable table{};
  (fill<kShapes, Chip::kGfx950>(table), ...);
  (fill<kShapes, Chip::kGfx942>(table), ...);
  return table;
}

constexpr SparseTable kSparseTiles = make_table(std::make_index_sequence<kSparseShapeCount>{});

}  // namespace
}  // namespace matrix

SparseTileFunction find_sparse_tile(std::string_view mnemonic, Chip chip, MatrixModel model) {
  for (std::size_t shape = 0; shape < matrix::kSparseShapeCount; ++shape) {
    if (mnemonic == matrix::kSparseShapes[shape].mnemonic)
      return matrix::kSparseTiles.functions[shape][static_cast<int>(chip)][static_cast<int>(model)];
  }
  return nullptr;
}

}  // namespace monojit::emulator
