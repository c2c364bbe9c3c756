// Rules of MFMAs that a random test would not isolate: directed sums, Inf and NaN, clamps, broadcasts, constants,
// aliasing.
#include <catch2/catch_test_macros.hpp>

#include "runtime/emulator/numerics/matrix_shape.h"
#include "tests/emulator/numerics_matrix_support.h"

namespace monojit::emulator::matrix {
// The vector kernels, which the public functions fall back from for unusual operands (tile_kernels.h).
namespace isa_v3 {
bool (*find_kernel(std::size_t shape, Chip chip, MatrixModel model))(const TileArguments&);
}
namespace isa_v4 {
bool (*find_kernel(std::size_t shape, Chip chip, MatrixModel model))(const TileArguments&);
}
}  // namespace monojit::emulator::matrix

namespace monojit::emulator::numerics_test {
namespace {

constexpr std::uint32_t kNan = 0x7FC00000;
constexpr std::uint32_t kInfinity = 0x7F800000;

/// Element (0, 0) of an MFMA whose products a[k] * b[k] are given by value, on every host instruction set.
std::uint64_t first_element(const std::string& name, Chip chip, const std::vector<std::pair<double, double>>& products,
                            double c, MatrixModel model = MatrixModel::kCdna3, bool fp16_ovfl = false) {
  Tile tile(instruction(name));
  for (std::size_t k = 0; k < products.size(); ++k) {
    tile.set_a(0, 0, static_cast<int>(k), encode_exactly(tile.of->a_type, chip, products[k].first));
    tile.set_b(0, static_cast<int>(k), 0, encode_exactly(tile.of->b_type, chip, products[k].second));
  }
  tile.set_c(0, 0, 0, encode_exactly(tile.of->result_type, chip, c));
  TileArguments arguments = tile.arguments();
  arguments.fp16_ovfl = fp16_ovfl;
  std::vector<std::uint64_t> results;
  for (const HostIsa isa : host_isas()) {
    find_tile(name, chip, model, isa)(arguments);
    results.push_back(tile.get_d(0, 0, 0));
  }
  for (const std::uint64_t result : results) REQUIRE(result == results[0]);
  return results[0];
}

double first_value(const std::string& name, Chip chip, const std::vector<std::pair<double, double>>& products, double c,
                   MatrixModel model = MatrixModel::kCdna3) {
  return decode_value(instruction(name).result_type, chip, first_element(name, chip, products, c, model));
}

/// The same for bf16 elements given as bits.
std::uint32_t first_bf16_element(std::uint32_t a0, std::uint32_t b0, std::uint32_t a1, std::uint32_t b1,
                                 std::uint32_t c) {
  Tile tile(instruction("v_mfma_f32_16x16x32_bf16"));
  tile.set_a(0, 0, 0, a0);
  tile.set_b(0, 0, 0, b0);
  tile.set_a(0, 0, 1, a1);
  tile.set_b(0, 1, 0, b1);
  tile.set_c(0, 0, 0, c);
  find_tile(tile.of->name, Chip::kGfx950, MatrixModel::kCdna3)(tile.arguments());
  return static_cast<std::uint32_t>(tile.get_d(0, 0, 0));
}

/// Random operands that are ordinary numbers in every type: exponents in the middle of the range, no code of NaN.
void fill(Tile& tile, Random& random) {
  for (auto* words : {&tile.a.words(), &tile.b.words(), &tile.c.words()})
    for (std::uint32_t& word : *words) word = (random() & 0xB7B7B7B7U) | 0x30303030U;
}

const char* const kBf16 = "v_mfma_f32_16x16x32_bf16";

}  // namespace

TEST_CASE("the published directed sum separates the rules of the element types") {
  // c = 2^23, products -2^23, -0.5, -0.25, -0.125: exactly -0.875.
  const std::vector<std::pair<double, double>> products = {{-4096, 2048}, {-0.5, 1}, {-0.5, 0.5}, {-0.5, 0.25}};
  REQUIRE(first_value("v_mfma_f64_16x16x4_f64", Chip::kGfx942, products, 0x1p23) == -0.875);
  REQUIRE(first_value("v_mfma_f32_16x16x16_f16", Chip::kGfx942, products, 0x1p23) == -0.5);
  REQUIRE(first_value("v_mfma_f32_16x16x16_bf16", Chip::kGfx942, products, 0x1p23) == -0.5);
  REQUIRE(first_value("v_mfma_f32_16x16x32_bf8_bf8", Chip::kGfx942, products, 0x1p23) == -1.0);
  // E4M3 does not reach 2^23: the same, 2^9 times smaller.
  const std::vector<std::pair<double, double>> small = {
      {-128, 128}, {-0x1p-5, 0x1p-5}, {-0x1p-5, 0x1p-6}, {-0x1p-6, 0x1p-6}};
  REQUIRE(first_value("v_mfma_f32_16x16x32_fp8_fp8", Chip::kGfx942, small, 0x1p14) == -0x1p-9);
  REQUIRE(first_value(kBf16, Chip::kGfx950, products, 0x1p23, MatrixModel::kExact) == -0.875);
}

TEST_CASE("a tiny negative addend pulls a 16-bit sum down one step, an 8-bit sum not at all") {
  const std::vector<std::pair<double, double>> one = {{1, 1}};
  REQUIRE(first_value(kBf16, Chip::kGfx950, one, -0x1p-100) == 1 - 0x1p-24);
  REQUIRE(first_value(kBf16, Chip::kGfx950, one, -0x1p-140) == 1 - 0x1p-24);  // a denormal too
  // So tiny next to the product that scaling it flushes it to zero.
  REQUIRE(first_value(kBf16, Chip::kGfx950, {{0x1p50, 0x1p50}}, -0x1p-140) == 0x1p100 - 0x1p76);
  REQUIRE(first_value(kBf16, Chip::kGfx950, one, 0x1p-100) == 1);
  REQUIRE(first_value(kBf16, Chip::kGfx950, one, -0.0) == 1);
  REQUIRE(first_value("v_mfma_f32_16x16x32_fp8_fp8", Chip::kGfx950, one, -0x1p-100) == 1);
  REQUIRE(first_value("v_mfma_f32_16x16x32_fp8_fp8", Chip::kGfx950, one, -0x1p-25) == 1 - 0x1p-24);
  REQUIRE(first_value("v_mfma_f32_16x16x32_fp8_fp8", Chip::kGfx950, one, -0x1p-26) == 1);
}

TEST_CASE("products in one group commute, across groups they need not") {
  const std::pair<double, double> big = {4096, 4096}, minus_big = {-4096, 4096}, small = {0.75, 1};
  const auto sum = [&](const std::vector<std::pair<double, double>>& products) {
    return first_value(kBf16, Chip::kGfx950, products, 0);
  };
  const std::pair<double, double> none = {0, 0};
  REQUIRE(sum({big, minus_big, small}) == sum({small, big, minus_big}));
  REQUIRE(sum({big, minus_big, none, none, none, none, none, none, small}) == 0.75);
  REQUIRE(sum({big, minus_big, small}) == 0);  // cut below 2^0 by the group's largest product, 2^24
}

TEST_CASE("products far below the addend count down to its thirty-second fraction bit") {
  // 1 - 1.5 * 2^-24 is halfway between two f32 values; 2^-32 more decides for the upper one, 2^-34 more is rounded
  // away.
  const std::pair<double, double> to_the_tie = {-1.5 * 0x1p-12, 0x1p-12};
  REQUIRE(first_value(kBf16, Chip::kGfx950, {to_the_tie}, 1) == 1 - 0x1p-23);
  REQUIRE(first_value(kBf16, Chip::kGfx950, {to_the_tie, {0x1p-16, 0x1p-16}}, 1) == 1 - 0x1p-24);
  REQUIRE(first_value(kBf16, Chip::kGfx950, {to_the_tie, {0x1p-17, 0x1p-17}}, 1) == 1 - 0x1p-23);
}

TEST_CASE("NaN and Inf among the terms decide the result") {
  REQUIRE(first_bf16_element(0x7FC0, 0x3F80, 0, 0, 0) == kNan);
  REQUIRE(first_bf16_element(0x7F80, 0x0000, 0, 0, 0) == kNan);            // Inf * 0
  REQUIRE(first_bf16_element(0x7F80, 0x3F80, 0xFF80, 0x3F80, 0) == kNan);  // Inf - Inf
  REQUIRE(first_bf16_element(0x7F80, 0x3F80, 0, 0, 0xFF800000U) == kNan);  // against C
  REQUIRE(first_bf16_element(0x7F80, 0xBF80, 0x3F80, 0x3F80, 0) == 0xFF800000U);
  REQUIRE(first_bf16_element(0, 0, 0, 0, 0xFFC12345U) == kNan);  // a NaN addend comes out canonical
  REQUIRE(first_bf16_element(0, 0, 0, 0, kInfinity) == kInfinity);
  // A product of 2^128 is Inf even if another would cancel it; 2^127 + 2^127 overflows only at the end.
  REQUIRE(first_bf16_element(0x7F00, 0x4000, 0xFF00, 0x3F80, 0) == kInfinity);
  REQUIRE(first_bf16_element(0x7F00, 0x3F80, 0x7F00, 0x3F80, 0) == kInfinity);
  REQUIRE(first_bf16_element(0x7F00, 0x3F80, 0x7F00, 0x3F80, 0xFF7FFFFFU) != kInfinity);
}

TEST_CASE("8-bit NaN codes are those of the chip") {
  for (const Chip chip : {Chip::kGfx942, Chip::kGfx950})
    for (const std::uint32_t code : {0x80U, 0x7FU}) {
      Tile tile(instruction("v_mfma_f32_16x16x32_fp8_fp8"));
      tile.set_a(0, 3, 5, code);
      tile.set_b(0, 5, 4, encode_exactly("fp8", chip, 1.0));
      find_tile(tile.of->name, chip, MatrixModel::kCdna3)(tile.arguments());
      const bool nan = std::isnan(decode_value("fp8", chip, code));
      REQUIRE(is_nan(static_cast<std::uint32_t>(tile.get_d(0, 3, 4))) == nan);
      REQUIRE(tile.get_d(0, 2, 4) == 0);
    }
}

TEST_CASE("with FP16_OVFL an overflow gives the largest value, an i32 result saturates") {
  const std::vector<std::pair<double, double>> products = {{0x1p127, 1}, {0x1p127, 1}};
  for (const MatrixModel model : {MatrixModel::kCdna3, MatrixModel::kFmaChain, MatrixModel::kExact}) {
    REQUIRE(first_element(kBf16, Chip::kGfx950, products, 0, model, false) == kInfinity);
    REQUIRE(first_element(kBf16, Chip::kGfx950, products, 0, model, true) == kInfinity - 1);
  }
  const char* const i8 = "v_mfma_i32_16x16x32_i8";
  REQUIRE(first_element(i8, Chip::kGfx950, {{127, 127}}, 0x7FFFFFFF, MatrixModel::kCdna3, false) ==
          0x7FFFFFFFU + 127 * 127);
  REQUIRE(first_element(i8, Chip::kGfx950, {{127, 127}}, 0x7FFFFFFF, MatrixModel::kCdna3, true) == 0x7FFFFFFFU);
  REQUIRE(first_element(i8, Chip::kGfx950, {{-128, 127}}, -2147483648.0, MatrixModel::kCdna3, true) == 0x80000000U);
}

TEST_CASE("f32 MFMAs flush denormal inputs where MODE says so, never C or D") {
  Tile tile(instruction("v_mfma_f32_16x16x4_f32"));
  tile.set_a(0, 0, 0, 0x00400000U);
  tile.set_b(0, 0, 0, as_bits(1.0F));
  tile.set_c(0, 0, 1, 0x00000123U);
  TileArguments arguments = tile.arguments();
  for (const bool flush : {false, true}) {
    arguments.flush_f32_inputs = flush;
    find_tile(tile.of->name, Chip::kGfx950, MatrixModel::kCdna3)(arguments);
    REQUIRE(tile.get_d(0, 0, 0) == (flush ? 0U : 0x00400000U));
    REQUIRE(tile.get_d(0, 0, 1) == 0x123U);
  }
}

TEST_CASE("blgp of f64 MFMAs negates A, B and C") {
  for (int blgp = 0; blgp < 8; ++blgp) {
    Tile tile(instruction("v_mfma_f64_16x16x4_f64"));
    tile.set_a(0, 0, 0, as_bits(3.0));
    tile.set_b(0, 0, 0, as_bits(5.0));
    tile.set_c(0, 0, 0, as_bits(100.0));
    TileArguments arguments = tile.arguments();
    arguments.blgp = static_cast<std::uint8_t>(blgp);
    find_tile(tile.of->name, Chip::kGfx950, MatrixModel::kCdna3)(arguments);
    const int sign = ((blgp & 1) != 0 ? -1 : 1) * ((blgp & 2) != 0 ? -1 : 1);
    REQUIRE(as_double(tile.get_d(0, 0, 0)) == sign * 15.0 + ((blgp & 4) != 0 ? -100.0 : 100.0));
  }
}

TEST_CASE("cbsz and abid broadcast blocks of A, blgp rearranges the lanes of B") {
  const auto patterned = [](int lane, int blgp) {
    const int sources[] = {lane,      lane % 32,      lane % 32 + 32, (lane + 16) % 64,
                           lane % 16, lane % 16 + 16, lane % 16 + 32, lane % 16 + 48};
    return sources[blgp];
  };
  Random random;
  for (int cbsz = 0; cbsz <= 2; ++cbsz)
    for (int abid = 0; abid < 1 << cbsz; ++abid)
      for (int blgp = 0; blgp < 8; ++blgp) {
        Tile tile(instruction("v_mfma_f32_16x16x4_4b_bf16")), moved(*tile.of);
        fill(tile, random);
        for (std::size_t row = 0; row < 2; ++row)
          for (int lane = 0; lane < kLanes; ++lane) {
            const int size = 64 >> cbsz;
            const auto at = row * kLanes, to = at + static_cast<std::size_t>(lane);
            moved.a.words()[to] =
                tile.a.words()[at + static_cast<std::size_t>(cbsz == 0 ? lane : lane % size + size * abid)];
            moved.b.words()[to] = tile.b.words()[at + static_cast<std::size_t>(patterned(lane, blgp))];
          }
        moved.c = tile.c;
        TileArguments arguments = tile.arguments();
        arguments.cbsz = static_cast<std::uint8_t>(cbsz);
        arguments.abid = static_cast<std::uint8_t>(abid);
        arguments.blgp = static_cast<std::uint8_t>(blgp);
        const TileFunction run_tile = find_tile(tile.of->name, Chip::kGfx950, MatrixModel::kCdna3);
        run_tile(arguments);
        run_tile(moved.arguments());
        REQUIRE(tile.d == moved.d);
      }
}

TEST_CASE("D may overwrite any operand, C may be a constant, and repeated columns change nothing") {
  Random random;
  for (const Instruction& what : load_instructions())
    for (const std::string& chip : what.chips)
      for (const HostIsa isa : host_isas()) {
        INFO(what.name);
        const TileFunction run_tile = find_tile(what.name, chip_named(chip), MatrixModel::kCdna3, isa);
        Tile tile(what);
        fill(tile, random);
        const std::size_t copies = random() % 16;
        for (std::size_t word = 0; word < tile.b.words().size(); ++word)
          if (word % 16 > copies) tile.b.words()[word] = tile.b.words()[word - 1];
        for (std::uint32_t& word : tile.c.words()) word = as_bits(1.0F);
        if (what.result_type == "f64")
          for (std::size_t word = 0; word < tile.c.words().size(); ++word)
            tile.c.words()[word] = word / kLanes % 2 == 0 ? 0 : 0x3FF00000;
        run_tile(tile.arguments());

        TileArguments constant = tile.arguments();
        Registers d(what.result_rows);
        constant.c = nullptr;
        constant.c_constant = what.result_type == "f64" ? 0x3FF0000000000000U : as_bits(1.0F);
        constant.d = d.data();
        run_tile(constant);
        REQUIRE(d == tile.d);

        // a, b and c one after the other in a file of registers, d over them all.
        std::vector<std::uint32_t> file(static_cast<std::size_t>(kLanes) * 80);
        std::copy(tile.a.words().begin(), tile.a.words().end(), file.begin());
        constexpr std::ptrdiff_t kB = std::ptrdiff_t{8} * kLanes, kC = std::ptrdiff_t{16} * kLanes;
        std::copy(tile.b.words().begin(), tile.b.words().end(), file.begin() + kB);
        std::copy(tile.c.words().begin(), tile.c.words().end(), file.begin() + kC);
        for (const std::size_t first : {0, 2, 8, 16}) {
          std::vector<std::uint32_t> copy = file;
          run_tile({.a = copy.data(), .b = copy.data() + kB, .c = copy.data() + kC, .d = copy.data() + first * kLanes});
          REQUIRE(std::equal(tile.d.words().begin(), tile.d.words().end(),
                             copy.begin() + static_cast<std::ptrdiff_t>(first * kLanes)));
        }
      }
}

TEST_CASE("ordinary operands take the vector kernels") {
  Random random;
  for (const HostIsa isa : host_isas())
    for (std::size_t shape = 0; shape < matrix::kTileShapeCount; ++shape) {
      const matrix::TileShape& tile_shape = matrix::kTileShapes[shape];
      const bool half = tile_shape.a == matrix::Element::kF16 || tile_shape.a == matrix::Element::kBf16;
      const bool scalar = tile_shape.a == matrix::Element::kXf32 || (half && tile_shape.blocks > 1);
      if (scalar || tile_shape.a == matrix::Element::kF8f6f4) continue;
      INFO(tile_shape.mnemonic);
      const auto find = isa == HostIsa::kX86V4 ? matrix::isa_v4::find_kernel : matrix::isa_v3::find_kernel;
      for (const MatrixModel model : {MatrixModel::kCdna3, MatrixModel::kFmaChain}) {
        const auto kernel = find(shape, Chip::kGfx950, model);
        REQUIRE(kernel != nullptr);
        Tile tile(instruction(std::string(tile_shape.mnemonic)));
        fill(tile, random);
        REQUIRE(kernel(tile.arguments()));
      }
    }
}

}  // namespace monojit::emulator::numerics_test
