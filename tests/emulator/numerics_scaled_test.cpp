// v_mfma_f32_*_f8f6f4 and v_mfma_scale_f32_*_f8f6f4: every mix of formats, against sums in 113-bit floats placed by the
// layout table.
#include <catch2/catch_test_macros.hpp>

#include "tests/emulator/numerics_matrix_support.h"

namespace monojit::emulator::numerics_test {
namespace {

__extension__ typedef __float128 Quad;  // NOLINT(modernize-use-using)

constexpr int kTiles = 4;  // of each mix of formats
constexpr int kScaleBlock = 32;
const char* const kFormats[] = {"fp8", "bf8", "e2m3", "e3m2", "e2m1"};  // by code in cbsz and blgp

/// Operands of one instruction: registers, formats and scales.
struct ScaledTile {
  ScaledTile(const ScaledInstruction& what, int a_code, int b_code)
      : of(&what),
        a_format(kFormats[a_code]),
        b_format(kFormats[b_code]),
        a(8),
        b(8),
        c(what.result_rows),
        d(what.result_rows),
        a_scale(1),
        b_scale(1) {
    arguments = {.a = a.data(),
                 .b = b.data(),
                 .c = c.data(),
                 .d = d.data(),
                 .scale_a = a_scale.data(),
                 .scale_b = b_scale.data()};
    arguments.cbsz = static_cast<std::uint8_t>(a_code);
    arguments.blgp = static_cast<std::uint8_t>(b_code);
  }

  [[nodiscard]] const LaneMap& a_map() const { return of->a.at(type_width(a_format)); }
  [[nodiscard]] const LaneMap& b_map() const { return of->b.at(type_width(b_format)); }
  [[nodiscard]] double a_value(int i, int k) const {
    return decode_value(a_format, Chip::kGfx950, a.get(a_map(), type_width(a_format), {{'i', i}, {'k', k}}));
  }
  [[nodiscard]] double b_value(int k, int j) const {
    return decode_value(b_format, Chip::kGfx950, b.get(b_map(), type_width(b_format), {{'j', j}, {'k', k}}));
  }
  [[nodiscard]] int scale_exponent(int i, int j, int k) const {
    const int a_lane = bits_to_number(of->a_scale, {{'i', i}, {'k', k}}),
              b_lane = bits_to_number(of->b_scale, {{'j', j}, {'k', k}});
    const auto byte = [](const Registers& scale, int lane, int which) {
      return static_cast<int>((scale.data()[lane] >> (8 * which)) & 0xFFU);
    };
    return byte(a_scale, a_lane, arguments.scale_byte_a) + byte(b_scale, b_lane, arguments.scale_byte_b) - 254;
  }
  [[nodiscard]] float addend(int i, int j) const {
    return as_float(static_cast<std::uint32_t>(c.get(of->result, 32, {{'i', i}, {'j', j}})));
  }
  [[nodiscard]] std::uint32_t result(int i, int j) const {
    return static_cast<std::uint32_t>(d.get(of->result, 32, {{'i', i}, {'j', j}}));
  }

  const ScaledInstruction* of;
  std::string a_format, b_format;
  Registers a, b, c, d, a_scale, b_scale;
  TileArguments arguments;
};

/// 2^exponent, exactly.
Quad power(int exponent) {
  Quad value = 1;
  for (int i = 0; i < std::abs(exponent); ++i) value = exponent < 0 ? value / 2 : value * 2;
  return value;
}

/// Blocks of 32 k in rising order, each summed exactly, scaled, added and rounded once.
float expected(const ScaledTile& tile, int i, int j) {
  float c = tile.addend(i, j);
  for (int first = 0; first < tile.of->k; first += kScaleBlock) {
    Quad dot = 0;
    for (int k = first; k < first + kScaleBlock; ++k)
      dot += static_cast<Quad>(tile.a_value(i, k)) * static_cast<Quad>(tile.b_value(k, j));
    c = static_cast<float>(dot * power(tile.scale_exponent(i, j, first)) + static_cast<Quad>(c));
  }
  return c;
}

/// Random codes (finite ones only) and scale codes about 127.
void fill(ScaledTile& tile, Random& random, std::uint32_t scale_range) {
  const auto finite = [&](const std::string& format) {
    for (;;) {
      const std::uint64_t code = random() & ((1U << type_width(format)) - 1);
      if (std::isfinite(decode_value(format, Chip::kGfx950, code))) return code;
    }
  };
  for (int i = 0; i < tile.of->m; ++i)
    for (int k = 0; k < tile.of->k; ++k) {
      tile.a.set(tile.a_map(), type_width(tile.a_format), {{'i', i}, {'k', k}}, finite(tile.a_format));
      tile.b.set(tile.b_map(), type_width(tile.b_format), {{'j', i}, {'k', k}}, finite(tile.b_format));
    }
  for (auto* scale : {&tile.a_scale, &tile.b_scale})
    for (std::uint32_t& word : scale->words())
      for (int byte = 0; byte < 4; ++byte) word = word << 8 | (127 - scale_range / 2 + random() % scale_range);
  for (std::uint32_t& word : tile.c.words()) word = (random() & 0x807FFFFFU) | (120 + random() % 20) << 23;
  tile.arguments.scale_byte_a = static_cast<std::uint8_t>(random() % 4);
  tile.arguments.scale_byte_b = static_cast<std::uint8_t>(random() % 4);
}

void require_exact_blocks(const ScaledTile& tile) {
  Disagreements disagreements;
  for (int at = 0; at < tile.of->m * tile.of->m; at += 5) {
    const int i = at / tile.of->m, j = at % tile.of->m;
    const std::uint32_t wanted = as_bits(expected(tile, i, j));
    disagreements.note(same(tile.result(i, j), wanted) || (as_float(wanted) == 0 && as_float(tile.result(i, j)) == 0),
                       static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j), tile.result(i, j), wanted);
  }
  INFO(tile.of->scaled << " " << tile.a_format << " x " << tile.b_format);
  REQUIRE_AGREEMENT(disagreements);
}

const ScaledInstruction& sixteen_wide() {
  static const std::vector<ScaledInstruction> kInstructions = load_scaled_instructions();
  return kInstructions[0];
}

template <class Visit>
void for_each_mix(Visit visit) {
  for (const ScaledInstruction& what : load_scaled_instructions())
    for (int a_code = 0; a_code < 5; ++a_code)
      for (int b_code = 0; b_code < 5; ++b_code) visit(what, a_code, b_code);
}

}  // namespace

TEST_CASE("scaled MFMAs add exact blocks of 32, rounding once a block, for every mix of formats") {
  Random random;
  for_each_mix([&](const ScaledInstruction& what, int a_code, int b_code) {
    for (const HostIsa isa : host_isas())
      for (int repeat = 0; repeat < kTiles; ++repeat) {
        ScaledTile tile(what, a_code, b_code);
        fill(tile, random, repeat == 0 ? 1 : 20);
        find_tile(what.scaled, Chip::kGfx950, MatrixModel::kCdna3, isa)(tile.arguments);
        require_exact_blocks(tile);
      }
  });
}

TEST_CASE("scales at the ends of E8M0 reach denormal, zero and infinite results") {
  Random random;
  for (const int code : {0, 4})
    for (const HostIsa isa : host_isas())
      for (const auto& [low, high] :
           {std::pair{0U, 3U}, std::pair{250U, 254U}, std::pair{55U, 75U}, std::pair{180U, 195U}}) {
        ScaledTile tile(sixteen_wide(), code, code);
        fill(tile, random, 1);
        for (auto* scale : {&tile.a_scale, &tile.b_scale})
          for (std::uint32_t& word : scale->words()) word = (low + random() % (high - low + 1)) * 0x01010101U;
        for (std::uint32_t& word : tile.c.words()) word = low < 100 ? random() & 0x807FFFFFU : 0;
        find_tile(tile.of->scaled, Chip::kGfx950, MatrixModel::kCdna3, isa)(tile.arguments);
        require_exact_blocks(tile);
      }
}

TEST_CASE("without scale registers every scale is one") {
  Random random;
  for_each_mix([&](const ScaledInstruction& what, int a_code, int b_code) {
    ScaledTile tile(what, a_code, b_code);
    fill(tile, random, 1);  // codes of 127
    tile.arguments.scale_a = tile.arguments.scale_b = nullptr;
    find_tile(what.unscaled, Chip::kGfx950, MatrixModel::kCdna3)(tile.arguments);
    require_exact_blocks(tile);
  });
}

TEST_CASE("a NaN scale spoils its row or column, a scale byte comes from the chosen byte") {
  for (const int code : {0, 4}) {
    ScaledTile tile(sixteen_wide(), code, code);
    for (auto* scale : {&tile.a_scale, &tile.b_scale})
      for (std::uint32_t& word : scale->words()) word = 0x7F7F7F7F;
    tile.arguments.scale_byte_a = 2;
    const TileFunction run_tile = find_tile(tile.of->scaled, Chip::kGfx950, MatrixModel::kCdna3);
    tile.a_scale.words()[static_cast<std::size_t>(bits_to_number(tile.of->a_scale, {{'i', 5}, {'k', 64}}))] =
        0x7FFF7F7F;
    run_tile(tile.arguments);
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 16; ++j) REQUIRE(is_nan(tile.result(i, j)) == (i == 5));
    tile.arguments.scale_byte_a = 1;
    run_tile(tile.arguments);
    REQUIRE(tile.result(5, 5) == 0);
  }
}

TEST_CASE("a scaled block is rounded once, however far its terms lie apart") {
  // 2^40 + 2^16 is halfway between two f32 values; 2^-18, 58 binary places below, decides.
  ScaledTile tile(sixteen_wide(), 0, 0);
  for (auto* scale : {&tile.a_scale, &tile.b_scale})
    for (std::uint32_t& word : scale->words()) word = 0x7F7F7F7F;
  const auto set = [&](int k, std::uint64_t code) {
    tile.a.set(tile.a_map(), 8, {{'i', 0}, {'k', k}}, code);
    tile.b.set(tile.b_map(), 8, {{'j', 0}, {'k', k}}, code);
  };
  constexpr std::uint64_t k256 = 0x78, kSmallest = 0x01;
  set(3, k256);
  tile.c.set(tile.of->result, 32, {{'i', 0}, {'j', 0}}, as_bits(0x1p40F));
  for (const HostIsa isa : host_isas()) {
    const TileFunction run_tile = find_tile(tile.of->scaled, Chip::kGfx950, MatrixModel::kCdna3, isa);
    set(20, 0);
    run_tile(tile.arguments);
    REQUIRE(as_float(tile.result(0, 0)) == 0x1p40F);
    set(20, kSmallest);
    run_tile(tile.arguments);
    REQUIRE(as_float(tile.result(0, 0)) == 0x1p40F + 0x1p17F);
  }
}

TEST_CASE("8-bit NaN and Inf pass through scaled MFMAs") {
  ScaledTile tile(sixteen_wide(), 1, 0);
  for (auto* scale : {&tile.a_scale, &tile.b_scale})
    for (std::uint32_t& word : scale->words()) word = 0x7F7F7F7F;
  const auto set_a = [&](int i, int k, std::uint64_t code) { tile.a.set(tile.a_map(), 8, {{'i', i}, {'k', k}}, code); };
  set_a(1, 9, 0x7C);                                                                                  // Inf
  set_a(2, 70, 0xFD);                                                                                 // NaN
  for (int j = 0; j < 16; ++j) tile.b.set(tile.b_map(), 8, {{'j', j}, {'k', 9}}, j == 3 ? 0 : 0xB8);  // -1, once 0
  find_tile(tile.of->scaled, Chip::kGfx950, MatrixModel::kCdna3)(tile.arguments);
  REQUIRE(tile.result(1, 0) == 0xFF800000U);
  REQUIRE(is_nan(tile.result(1, 3)));
  REQUIRE(is_nan(tile.result(2, 0)));
  REQUIRE(tile.result(0, 0) == 0);
}

TEST_CASE("the other models of scaled MFMAs round as they say") {
  Random random;
  ScaledTile tile(sixteen_wide(), 0, 4);
  fill(tile, random, 12);
  find_tile(tile.of->scaled, Chip::kGfx950, MatrixModel::kExact)(tile.arguments);
  ScaledTile chained = tile;
  chained.arguments.d = chained.d.data();
  find_tile(tile.of->scaled, Chip::kGfx950, MatrixModel::kFmaChain)(chained.arguments);
  for (int at = 0; at < 256; at += 3) {
    const int i = at / 16, j = at % 16;
    Quad sum = static_cast<Quad>(tile.addend(i, j));
    float chain = tile.addend(i, j);
    for (int k = 0; k < 128; ++k) {
      const Quad product = static_cast<Quad>(tile.a_value(i, k)) * static_cast<Quad>(tile.b_value(k, j)) *
                           power(tile.scale_exponent(i, j, k));
      sum += product;
      chain = static_cast<float>(static_cast<Quad>(chain) + product);
    }
    REQUIRE(tile.result(i, j) == as_bits(static_cast<float>(sum)));
    REQUIRE(chained.result(i, j) == as_bits(chain));
  }
}

TEST_CASE("repeated columns of scaled MFMAs are told apart by their scales") {
  Random random;
  for (const int code : {0, 4}) {
    ScaledTile tile(sixteen_wide(), code, code);
    fill(tile, random, 8);
    for (std::size_t word = 0; word < tile.b.words().size(); ++word)
      if (word % 16 > 2) tile.b.words()[word] = tile.b.words()[word - 1];
    for (std::size_t word = 0; word < tile.c.words().size(); ++word)
      if (word % 16 > 2) tile.c.words()[word] = tile.c.words()[word - 1];
    find_tile(tile.of->scaled, Chip::kGfx950, MatrixModel::kCdna3)(tile.arguments);
    require_exact_blocks(tile);
  }
}

}  // namespace monojit::emulator::numerics_test
