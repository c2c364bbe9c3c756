// Sparse matrix products against dense ones of the decompressed A. Where elements lie is written down here from the
// tables of the CDNA4 reference (7.5.1), as the first k of every four registers of each group of 16 lanes.
#include <cmath>

#include <catch2/catch_test_macros.hpp>

#include "runtime/emulator/numerics/sparse.h"
#include "tests/emulator/numerics_matrix_support.h"

namespace monojit::emulator::numerics_test {
namespace {

/// First k in registers 0..3, then 4..7, of B, by row of 16 lanes. Inside, k rises with the register and the element.
struct SparseLayout {
  int m, k, width;
  std::vector<std::array<int, 4>> first_k;
};

const SparseLayout kLayouts[] = {
    {16, 32, 16, {{0, 8, 16, 24}}},
    {32, 16, 16, {{0, 0, 8, 8}}},
    {16, 64, 8, {{0, 16, 32, 48}}},
    {32, 32, 8, {{0, 0, 16, 16}}},
    {16, 64, 16, {{0, 8, 16, 24}, {32, 40, 48, 56}}},
    {32, 32, 16, {{0, 0, 8, 8}, {16, 16, 24, 24}}},
    {16, 128, 8, {{0, 16, 32, 48}, {64, 80, 96, 112}}},
    {32, 64, 8, {{0, 0, 16, 16}, {32, 32, 48, 48}}},
};

struct SparseCase {
  std::string name;
  std::string a_type, b_type, result_type;
  const SparseLayout* layout;
  bool both_chips;
};

std::vector<SparseCase> sparse_cases() {
  std::vector<SparseCase> cases;
  for (const SparseLayout& layout : kLayouts) {
    const std::string size = std::to_string(layout.m) + "x" + std::to_string(layout.m) + "x" + std::to_string(layout.k);
    const bool both = layout.first_k.size() == 1;
    const auto add = [&](const std::string& result, const std::string& suffix, const std::string& a,
                         const std::string& b) {
      cases.push_back({"v_smfmac_" + result + "_" + size + "_" + suffix, a, b, result, &layout, both});
    };
    if (layout.width == 16) {
      for (const std::string type : {"f16", "bf16"}) add("f32", type, type, type);
    } else {
      add("i32", "i8", "i8", "i8");
      for (const std::string a : {"fp8", "bf8"})
        for (const std::string b : {"fp8", "bf8"}) add("f32", a + "_" + b, a, b);
    }
  }
  return cases;
}

/// Registers of a sparse product, and the dense matrices they stand for.
class SparseOperands {
 public:
  SparseOperands(const SparseCase& what, Chip chip)
      : what_(what),
        chip_(chip),
        layout_(*what.layout),
        a(rows_of(1)),
        b(rows_of(2)),
        index(kLanes),
        d(d_rows() * kLanes),
        dense_a(size_of(layout_.m, layout_.k)),
        dense_b(dense_a.size()),
        c(size_of(layout_.m, layout_.m)) {}

  /// Fills everything: which two of four are stored, and the values, come from the generators. The indices of `set`
  /// are the right ones; the bits of the others are all ones.
  template <class Value>
  void fill(Random& random, int set, Value value) {
    std::ranges::fill(index, ~std::uint32_t{0});
    for (int lane = 0; lane < kLanes; ++lane) {
      const int row = lane % layout_.m;
      for (int quad = 0; quad < b_items() / 4; ++quad) {
        const int first = k_of(lane, 4 * quad);
        int pair[2] = {static_cast<int>(random() % 3), 0};
        pair[1] = pair[0] + 1 + static_cast<int>(random() % (3 - static_cast<unsigned>(pair[0])));
        for (int i = 0; i < 2; ++i) {
          const int item = 2 * quad + i;
          set_item(a, lane, item, what_.a_type, dense_a[at(row, first + pair[i], layout_.k)] = value(random));
          const int bit = (set * b_items() / 2 + item) * 2;
          index[static_cast<std::size_t>(lane)] &= ~(3U << bit);
          index[static_cast<std::size_t>(lane)] |= static_cast<std::uint32_t>(pair[i]) << bit;
        }
      }
      for (int item = 0; item < b_items(); ++item)
        set_item(b, lane, item, what_.b_type, dense_b[at(row, k_of(lane, item), layout_.k)] = value(random));
    }
    for (int i = 0; i < layout_.m; ++i)
      for (int j = 0; j < layout_.m; ++j)
        d[d_place(i, j)] = static_cast<std::uint32_t>(
            encode_exactly(what_.result_type, chip_, c[at(i, j, layout_.m)] = value(random)));
  }

  [[nodiscard]] SparseTileArguments arguments(unsigned cbsz, unsigned abid) {
    return {.a = a.data(),
            .b = b.data(),
            .index = index.data(),
            .d = d.data(),
            .cbsz = static_cast<std::uint8_t>(cbsz),
            .abid = static_cast<std::uint8_t>(abid)};
  }

  [[nodiscard]] double result(int i, int j) const { return decode_value(what_.result_type, chip_, d[d_place(i, j)]); }
  [[nodiscard]] std::uint32_t result_bits(int i, int j) const { return d[d_place(i, j)]; }
  [[nodiscard]] double dense(const std::vector<double>& matrix, int row, int k) const {
    return matrix[at(row, k, layout_.k)];
  }
  [[nodiscard]] double addend(int i, int j) const { return c[at(i, j, layout_.m)]; }
  [[nodiscard]] int index_sets() const { return 32 / b_items(); }

 private:
  static std::size_t size_of(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<unsigned>(columns);
  }
  static std::size_t at(int row, int column, int columns) { return static_cast<std::size_t>(row * columns + column); }
  [[nodiscard]] int b_items() const { return layout_.m * layout_.k / kLanes; }
  [[nodiscard]] std::size_t rows_of(int part) const {
    return static_cast<std::size_t>(b_items() * layout_.width / 32 * part / 2 * kLanes);
  }
  [[nodiscard]] std::size_t d_rows() const { return static_cast<std::size_t>(layout_.m * layout_.m / kLanes); }
  [[nodiscard]] int k_of(int lane, int item) const {
    const int per_four = 128 / layout_.width;
    return layout_.first_k[static_cast<std::size_t>(item / per_four)][static_cast<std::size_t>(lane / 16)] +
           item % per_four;
  }
  [[nodiscard]] std::size_t d_place(int i, int j) const {
    // 16x16: row = 4 * (lane / 16) + register. 32x32: row = 8 * (register / 4) + 4 * (lane / 32) + register % 4.
    const int lane = layout_.m == 16 ? 16 * (i / 4) + j : 32 * (i / 4 % 2) + j;
    const int row = layout_.m == 16 ? i % 4 : i / 8 * 4 + i % 4;
    return static_cast<std::size_t>(row * kLanes + lane);
  }
  void set_item(std::vector<std::uint32_t>& rows, int lane, int item, const std::string& type, double value) {
    const int bit = item * layout_.width;
    const auto code = static_cast<std::uint32_t>(encode_exactly(type, chip_, value)) & ((1U << layout_.width) - 1);
    rows[static_cast<std::size_t>(bit / 32 * kLanes + lane)] |= code << (bit % 32);
  }

  const SparseCase& what_;
  Chip chip_;
  const SparseLayout& layout_;

 public:
  std::vector<std::uint32_t> a, b, index, d;
  std::vector<double> dense_a, dense_b, c;
};

constexpr MatrixModel kModels[] = {MatrixModel::kCdna3, MatrixModel::kFmaChain, MatrixModel::kExact};

template <class Visit>
void for_each_case(Visit visit) {
  for (const SparseCase& what : sparse_cases())
    for (const Chip chip : {Chip::kGfx950, Chip::kGfx942}) {
      if (chip == Chip::kGfx942 && !what.both_chips) continue;
      INFO(what.name << " on " << (chip == Chip::kGfx950 ? "gfx950" : "gfx942"));
      visit(what, chip);
    }
}

double small_integer(Random& random) { return static_cast<double>(random() % 9) - 4; }

/// Integers up to 7 times a power of two from 2^-3 to 2^3: every format holds them, sums lose bits in some models.
double spread_value(Random& random) {
  const double size = std::ldexp(1.0 + (random() % 4) * 0.25, static_cast<int>(random() % 7) - 3);
  return random() % 2 == 0 ? size : -size;
}

TEST_CASE("sparse products of small integers are exact, with every set of indices, under every model") {
  Random random;
  for_each_case([&](const SparseCase& what, Chip chip) {
    for (const MatrixModel model : kModels) {
      const SparseTileFunction run_tile = find_sparse_tile(what.name, chip, model);
      REQUIRE(run_tile != nullptr);
      const int sets = SparseOperands(what, chip).index_sets();
      for (int set = 0; set <= sets; ++set) {
        // The last turn: cbsz says that the first set counts, whatever abid is.
        const bool first_whatever = set == sets;
        SparseOperands operands(what, chip);
        operands.fill(random, first_whatever ? 0 : set, small_integer);
        run_tile(operands.arguments(first_whatever ? 1 : 0, static_cast<unsigned>(first_whatever ? sets - 1 : set)));
        std::size_t wrong = 0;
        for (int i = 0; i < what.layout->m; ++i)
          for (int j = 0; j < what.layout->m; ++j) {
            double sum = operands.addend(i, j);
            for (int k = 0; k < what.layout->k; ++k)
              sum += operands.dense(operands.dense_a, i, k) * operands.dense(operands.dense_b, j, k);
            wrong += operands.result(i, j) != sum ? 1 : 0;
          }
        INFO("set " << set << ", model " << static_cast<int>(model));
        REQUIRE(wrong == 0);
      }
    }
  });
}

/// The dense MFMA whose elements are of these types, as wide as possible but no deeper than the sparse product.
const Instruction* dense_counterpart(const std::vector<Instruction>& all, const SparseCase& what,
                                     const std::string& chip) {
  const Instruction* best = nullptr;
  for (const Instruction& dense : all) {
    const bool there = std::ranges::find(dense.chips, chip) != dense.chips.end();
    if (!there || dense.blocks != 1 || dense.m != what.layout->m || dense.a_type != what.a_type ||
        dense.b_type != what.b_type || dense.k > what.layout->k)
      continue;
    if (best == nullptr || dense.k > best->k) best = &dense;
  }
  return best;
}

TEST_CASE("a sparse product has the bits of the dense products of the decompressed A, one after the other") {
  Random random;
  const std::vector<Instruction> all = load_instructions();
  std::size_t compared = 0;
  for_each_case([&](const SparseCase& what, Chip chip) {
    const Instruction* const dense = dense_counterpart(all, what, chip == Chip::kGfx950 ? "gfx950" : "gfx942");
    REQUIRE(dense != nullptr);
    for (const MatrixModel model : {MatrixModel::kCdna3, MatrixModel::kFmaChain}) {
      SparseOperands operands(what, chip);
      const bool integers = what.a_type == "i8";
      operands.fill(random, 0, integers ? small_integer : spread_value);
      find_sparse_tile(what.name, chip, model)(operands.arguments(0, 0));
      Tile tile(*dense);
      for (int i = 0; i < dense->m; ++i)
        for (int j = 0; j < dense->m; ++j)
          tile.set_c(0, i, j, encode_exactly(dense->result_type, chip, operands.addend(i, j)));
      for (int first = 0; first < what.layout->k; first += dense->k) {
        for (int row = 0; row < dense->m; ++row)
          for (int k = 0; k < dense->k; ++k) {
            tile.set_a(0, row, k, encode_exactly(what.a_type, chip, operands.dense(operands.dense_a, row, first + k)));
            tile.set_b(0, k, row, encode_exactly(what.b_type, chip, operands.dense(operands.dense_b, row, first + k)));
          }
        find_tile(dense->name, chip, model)(tile.arguments());
        tile.c = tile.d;
      }
      std::size_t wrong = 0;
      for (int i = 0; i < dense->m; ++i)
        for (int j = 0; j < dense->m; ++j) {
          const auto got = operands.result_bits(i, j), want = static_cast<std::uint32_t>(tile.get_d(0, i, j));
          wrong += got != want && !(((got | want) & 0x7FFFFFFFU) == 0) ? 1 : 0;
          ++compared;
        }
      INFO("model " << static_cast<int>(model) << ", against " << dense->name);
      REQUIRE(wrong == 0);
    }
  });
  REQUIRE(compared > 0);
}

TEST_CASE("sparse products stay within the bound of the exact sum") {
  // Units of 2^-24 of the sum of magnitudes: the most that any of the models may be off for 64 products.
  constexpr double kBound = 130 * 0x1p-24;
  Random random;
  for_each_case([&](const SparseCase& what, Chip chip) {
    if (what.a_type == "i8") return;
    for (const MatrixModel model : kModels) {
      SparseOperands operands(what, chip);
      operands.fill(random, 0, spread_value);
      find_sparse_tile(what.name, chip, model)(operands.arguments(0, 0));
      double worst = 0;
      for (int i = 0; i < what.layout->m; ++i)
        for (int j = 0; j < what.layout->m; ++j) {
          double sum = operands.addend(i, j), size = std::abs(sum);
          for (int k = 0; k < what.layout->k; ++k) {
            const double product = operands.dense(operands.dense_a, i, k) * operands.dense(operands.dense_b, j, k);
            sum += product;
            size += std::abs(product);
          }
          worst = std::max(worst, std::abs(operands.result(i, j) - sum) / size);
        }
      INFO("model " << static_cast<int>(model));
      REQUIRE(worst <= kBound);
    }
  });
}

TEST_CASE("elements that a sparse A leaves out do not meet an infinity in B") {
  const SparseCase what = sparse_cases()[0];
  Random random;
  SparseOperands operands(what, Chip::kGfx950);
  operands.fill(random, 0, small_integer);
  // Of the first four k of row 0, elements 0 and 1 are stored; B's column 0 is infinite at k = 3.
  operands.index[0] = (operands.index[0] & ~0xFU) | 0x4U;
  operands.b[kLanes] |= 0xFFFF0000U;
  operands.b[kLanes] &= 0x7C00FFFFU;
  find_sparse_tile(what.name, Chip::kGfx950, MatrixModel::kCdna3)(operands.arguments(0, 0));
  REQUIRE(std::isfinite(operands.result(0, 0)));
}

TEST_CASE("integer sparse products wrap, or saturate with FP16_OVFL") {
  const std::vector<SparseCase> cases = sparse_cases();
  const SparseCase chosen = *std::ranges::find(cases, std::string("v_smfmac_i32_16x16x64_i8"), &SparseCase::name);
  for (const bool saturate : {false, true}) {
    SparseOperands operands(chosen, Chip::kGfx942);
    std::ranges::fill(operands.a, 0x01010101U);
    std::ranges::fill(operands.b, 0x01010101U);
    std::ranges::fill(operands.index, 0x44444444U);
    std::ranges::fill(operands.d, 0x7FFFFFFFU);
    SparseTileArguments arguments = operands.arguments(0, 0);
    arguments.fp16_ovfl = saturate;
    find_sparse_tile(chosen.name, Chip::kGfx942, MatrixModel::kCdna3)(arguments);
    for (const std::uint32_t word : operands.d) REQUIRE(word == (saturate ? 0x7FFFFFFFU : 0x7FFFFFFFU + 32U));
  }
}

TEST_CASE("gfx942 lacks the deeper sparse products") {
  REQUIRE(find_sparse_tile("v_smfmac_f32_16x16x64_f16", Chip::kGfx942, MatrixModel::kCdna3) == nullptr);
  REQUIRE(find_sparse_tile("v_smfmac_f32_16x16x64_f16", Chip::kGfx950, MatrixModel::kCdna3) != nullptr);
  REQUIRE(find_sparse_tile("v_mfma_f32_16x16x32_f16", Chip::kGfx950, MatrixModel::kCdna3) == nullptr);
}

}  // namespace
}  // namespace monojit::emulator::numerics_test
