// Every element of every MFMA is where the layout table says: one-hot rows of A pick rows of B.
#include <catch2/catch_test_macros.hpp>

#include "tests/emulator/numerics_matrix_support.h"

namespace monojit::emulator::numerics_test {
namespace {

constexpr int kValues = 8;  // elements are 0..7: every type holds them, every sum of them is exact

template <class Visit>
void for_each_chip_and_host(const Instruction& what, Visit visit) {
  for (const std::string& chip : what.chips)
    for (const HostIsa isa : host_isas()) {
      INFO(what.name << " on " << chip << ", host instruction set " << static_cast<int>(isa));
      visit(chip_named(chip), isa);
    }
}

/// D of an A that is 1 at (block, row, k) alone must be row k of B in that row, on top of C.
void require_one_hot_rows(const Instruction& what, Chip chip, HostIsa isa) {
  const TileFunction run_tile = find_tile(what.name, chip, MatrixModel::kCdna3, isa);
  REQUIRE(run_tile != nullptr);
  Random random;
  Tile tile(what);
  const auto element = [&](int block, int k, int j) {
    return static_cast<double>((block * 31 + k * 7 + j * 3 + k * j) % kValues);
  };
  const auto addend = [&](int block, int i, int j) { return static_cast<double>((block + i * 5 + j) % kValues); };
  for (int block = 0; block < what.blocks; ++block)
    for (int j = 0; j < what.n; ++j) {
      for (int k = 0; k < what.k; ++k) tile.set_b(block, k, j, encode_exactly(what.b_type, chip, element(block, k, j)));
      for (int i = 0; i < what.m; ++i)
        tile.set_c(block, i, j, encode_exactly(what.result_type, chip, addend(block, i, j)));
    }
  const std::uint64_t one = encode_exactly(what.a_type, chip, 1.0);
  for (int block = 0; block < what.blocks; ++block)
    for (int k = 0; k < what.k; ++k) {
      // One row for each k would be 32 x as many tiles: the row moves with k and a random offset.
      const int row = (k + static_cast<int>(random() % 32)) % what.m;
      tile.set_a(block, row, k, one);
      run_tile(tile.arguments());
      tile.set_a(block, row, k, 0);
      std::size_t wrong = 0;
      for (int b = 0; b < what.blocks; ++b)
        for (int i = 0; i < what.m; ++i)
          for (int j = 0; j < what.n; ++j) {
            const double product = b == block && i == row ? element(block, k, j) : 0;
            wrong += decode_value(what.result_type, chip, tile.get_d(b, i, j)) != product + addend(b, i, j) ? 1 : 0;
          }
      INFO("A[" << block << "][" << row << "][" << k << "]");
      REQUIRE(wrong == 0);
    }
}

/// Small random integers everywhere: D = A B + C in integers, whatever the model.
void require_integer_product(const Instruction& what, Chip chip, HostIsa isa, MatrixModel model) {
  const TileFunction run_tile = find_tile(what.name, chip, model, isa);
  Random random;
  Tile tile(what);
  std::vector<int> a, b;
  for (int block = 0; block < what.blocks; ++block)
    for (int i = 0; i < what.m; ++i)
      for (int k = 0; k < what.k; ++k) {
        a.push_back(static_cast<int>(random() % kValues) - kValues / 2);
        b.push_back(static_cast<int>(random() % kValues) - kValues / 2);
        tile.set_a(block, i, k, encode_exactly(what.a_type, chip, a.back()));
        tile.set_b(block, k, i, encode_exactly(what.b_type, chip, b.back()));
      }
  run_tile(tile.arguments());
  std::size_t wrong = 0;
  for (int block = 0; block < what.blocks; ++block)
    for (int i = 0; i < what.m; ++i)
      for (int j = 0; j < what.n; ++j) {
        int sum = 0;
        for (int k = 0; k < what.k; ++k)
          sum += a.at(static_cast<unsigned>((block * what.m + i) * what.k + k)) *
                 b.at(static_cast<unsigned>((block * what.n + j) * what.k + k));
        wrong += decode_value(what.result_type, chip, tile.get_d(block, i, j)) != sum ? 1 : 0;
      }
  REQUIRE(wrong == 0);
}

}  // namespace

TEST_CASE("one-hot rows of A pick rows of B, for every MFMA, chip and host instruction set") {
  for (const Instruction& what : load_instructions())
    for_each_chip_and_host(what, [&](Chip chip, HostIsa isa) { require_one_hot_rows(what, chip, isa); });
}

TEST_CASE("products of small integer matrices are exact under every model") {
  for (const Instruction& what : load_instructions())
    for_each_chip_and_host(what, [&](Chip chip, HostIsa isa) {
      for (const MatrixModel model : {MatrixModel::kCdna3, MatrixModel::kFmaChain, MatrixModel::kExact})
        require_integer_product(what, chip, isa, model);
    });
}

TEST_CASE("an MFMA that a chip lacks, or that is not emulated, is not found") {
  REQUIRE(find_tile("v_mfma_f32_16x16x32_bf16", Chip::kGfx942, MatrixModel::kCdna3) == nullptr);
  REQUIRE(find_tile("v_mfma_f32_16x16x8_xf32", Chip::kGfx950, MatrixModel::kCdna3) == nullptr);
  REQUIRE(find_tile("v_smfmac_f32_16x16x32_bf16", Chip::kGfx942, MatrixModel::kCdna3) == nullptr);
  REQUIRE(find_tile("", Chip::kGfx950, MatrixModel::kCdna3) == nullptr);
}

TEST_CASE("the older assembler spelling names the same MFMA") {
  REQUIRE(find_tile("v_mfma_f32_16x16x16bf16_1k", Chip::kGfx942, MatrixModel::kCdna3) ==
          find_tile("v_mfma_f32_16x16x16_bf16", Chip::kGfx942, MatrixModel::kCdna3));
  REQUIRE(find_tile("v_mfma_f32_32x32x8bf16_1k", Chip::kGfx942, MatrixModel::kCdna3) != nullptr);
}

}  // namespace monojit::emulator::numerics_test
