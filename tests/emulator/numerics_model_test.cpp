// The CDNA3 sums of f16, bf16 and 8-bit floats, kernels of both host instruction sets, against a transcription of the
// rule in long double, over distributions that reach its corners; and the distance of the models from the exact sum.
#include <algorithm>

#include <catch2/catch_test_macros.hpp>

#include "tests/emulator/numerics_matrix_support.h"

namespace monojit::emulator::numerics_test {
namespace {

constexpr int kTilesOfADistribution = 50;
using Real = long double;  // 64 significant bits: more than any step of the rule needs

/// Exponent with significand in [1, 2), from below the format's smallest normal one.
int exponent_of(Real value, int smallest) { return value == 0 ? smallest : std::max(std::ilogb(value), smallest); }

int smallest_exponent(const std::string& type, Chip chip) {
  const int fnuz = chip == Chip::kGfx942 ? 1 : 0;
  if (type == "f16") return -14;
  if (type == "fp8") return -6 - fnuz;
  if (type == "bf8") return -14 - fnuz;
  return -126;
}

Real down(Real value, int unit) { return std::ldexp(std::floor(std::ldexp(value, -unit)), unit); }
Real cut(Real value, int unit) { return std::ldexp(std::trunc(std::ldexp(value, -unit)), unit); }

struct Terms {
  std::vector<Real> a, b;
  std::vector<int> a_exponent, b_exponent;
};

struct Cut {
  Real sum = 0;
  int exponent = -999;
};

/// The products of k = first, first + step, ... below end.
Cut cut_products(const Terms& terms, int first, int end, int step) {
  Cut result;
  for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(end); k += static_cast<std::size_t>(step))
    if (terms.a[k] * terms.b[k] != 0)
      result.exponent = std::max(result.exponent, terms.a_exponent[k] + terms.b_exponent[k]);
  for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(end); k += static_cast<std::size_t>(step))
    result.sum += cut(terms.a[k] * terms.b[k], result.exponent - 24);
  return result;
}

/// One group with finite terms.
float add_group(const Terms& terms, int first, int count, float c, bool two_way) {
  Cut products;
  if (two_way) {
    const Cut even = cut_products(terms, first, first + count, 2),
              odd = cut_products(terms, first + 1, first + count, 2);
    products.exponent = std::max(even.exponent, odd.exponent);
    products.sum = down(even.sum, products.exponent - 24) + down(odd.sum, products.exponent - 24);
  } else {
    products = cut_products(terms, first, first + count, 1);
  }
  const int c_exponent = exponent_of(c, -126);
  const int largest = std::max(products.exponent, c_exponent);
  const Real addend = two_way && c_exponent < largest - 25 ? 0 : down(c, largest - 24);
  const Real total = down(products.sum, largest - 32) + addend;
  return static_cast<float>(down(total, exponent_of(total, -126) - 31));
}

/// One output element by the rule; Inf and NaN by theirs.
float model(const Terms& terms, float c, int group, bool two_way) {
  for (int first = 0; first < static_cast<int>(terms.a.size()); first += group) {
    bool nan = std::isnan(c), plus = c > 0 && std::isinf(c), minus = c < 0 && std::isinf(c);
    for (int n = first; n < first + group; ++n) {
      const auto k = static_cast<std::size_t>(n);
      const Real product = terms.a[k] * terms.b[k];
      nan |= std::isnan(product);
      plus |= product >= 0x1p128L;
      minus |= product <= -0x1p128L;
    }
    if (nan || (plus && minus)) return std::numeric_limits<float>::quiet_NaN();
    if (plus || minus)
      c = plus ? HUGE_VALF : -HUGE_VALF;
    else
      c = add_group(terms, first, group, c, two_way);
  }
  return c;
}

/// How a distribution makes elements of A and B, and values of C.
struct Distribution {
  const char* name;
  std::uint64_t (*element)(Random& random, const std::string& type, Chip chip, int row);
  float (*addend)(Random& random);
};

double uniform(Random& random) { return static_cast<double>(random()) / 4294967296.0; }
double gaussian(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += uniform(random);
  return sum;
}

/// The type's value next to a number towards zero, or its largest.
std::uint64_t nearby(const std::string& type, Chip chip, double value) {
  const double largest = type == "f16"   ? 65504
                         : type == "fp8" ? (chip == Chip::kGfx942 ? 240 : 448)
                         : type == "bf8" ? 57344
                                         : 0x1.FEp127;
  return encode_exactly(type, chip, std::clamp(value, -largest, largest));
}

double spread(Random& random, int range) {
  return std::ldexp((random() & 1U) != 0 ? 1 + uniform(random) : -1 - uniform(random),
                    static_cast<int>(random() % (2U * static_cast<unsigned>(range) + 1)) - range);
}

float any_finite(Random& random) {
  const std::uint32_t bits = random();
  return (bits & 0x7F800000U) == 0x7F800000U ? 0.0F : as_float(bits);
}

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): plain function pointers
const Distribution kDistributions[] = {
    {"Gaussian", [](Random& r, const std::string& t, Chip c, int) { return nearby(t, c, gaussian(r)); },
     [](Random& r) { return static_cast<float>(gaussian(r) * 4); }},
    {"exponents +-12", [](Random& r, const std::string& t, Chip c, int) { return nearby(t, c, spread(r, 12)); },
     [](Random& r) { return static_cast<float>(spread(r, 24)); }},
    {"sparse",
     [](Random& r, const std::string& t, Chip c, int) { return r() % 8 == 0 ? nearby(t, c, gaussian(r)) : 0; },
     [](Random& r) { return r() % 2 == 0 ? static_cast<float>(gaussian(r)) : 0.0F; }},
    {"random bits",
     [](Random& r, const std::string& t, Chip, int) { return r() & ((std::uint64_t{1} << type_width(t)) - 1); },
     [](Random& r) { return as_float(r()); }},
    {"exponents +-20, c +-40", [](Random& r, const std::string& t, Chip c, int) { return nearby(t, c, spread(r, 20)); },
     [](Random& r) { return static_cast<float>(spread(r, 40)); }},
    {"small integers",
     [](Random& r, const std::string& t, Chip c, int) { return nearby(t, c, static_cast<double>(r() % 9) - 4); },
     [](Random& r) { return static_cast<float>(r() % 1000) - 500; }},
    {"down to 2^-60",
     [](Random& r, const std::string& t, Chip c, int) { return nearby(t, c, spread(r, 30) * 0x1p-30); },
     [](Random& r) { return static_cast<float>(spread(r, 60) * 0x1p-60); }},
    {"zero rows, any finite c",
     [](Random& r, const std::string& t, Chip c, int row) { return row % 3 == 0 ? 0 : nearby(t, c, gaussian(r)); },
     any_finite},
    {"finite random bits",
     [](Random& r, const std::string& t, Chip c, int) {
       const std::uint64_t bits = r() & ((std::uint64_t{1} << type_width(t)) - 1);
       return std::isfinite(decode_value(t, c, bits)) ? bits : 0;
     },
     [](Random& r) { return static_cast<float>(spread(r, 30)); }},
};

void fill(Tile& tile, const Distribution& distribution, Chip chip, Random& random) {
  const Instruction& what = *tile.of;
  for (int block = 0; block < what.blocks; ++block)
    for (int row = 0; row < what.m; ++row) {
      for (int k = 0; k < what.k; ++k) {
        tile.set_a(block, row, k, distribution.element(random, what.a_type, chip, row));
        tile.set_b(block, k, row, distribution.element(random, what.b_type, chip, row + 1));
      }
      for (int j = 0; j < what.n; ++j) tile.set_c(block, row, j, as_bits(distribution.addend(random)));
    }
}

/// Makes the columns of B and C from `distinct` on copies of the one before, as the last rows of a decode batch are.
void repeat_columns(Tile& tile, int distinct) {
  const Instruction& what = *tile.of;
  for (int block = 0; block < what.blocks; ++block)
    for (int j = distinct; j < what.n; ++j) {
      for (int k = 0; k < what.k; ++k)
        tile.set_b(block, k, j, tile.b.get(what.b, type_width(what.b_type), {{'b', block}, {'j', j - 1}, {'k', k}}));
      for (int i = 0; i < what.m; ++i)
        tile.set_c(block, i, j, tile.c.get(what.result, 32, {{'b', block}, {'i', i}, {'j', j - 1}}));
    }
}

/// Row i of A and column j of B.
Terms terms_of(const Tile& tile, Chip chip, int block, int i, int j) {
  const Instruction& what = *tile.of;
  Terms terms;
  for (int k = 0; k < what.k; ++k) {
    terms.a.push_back(decode_value(what.a_type, chip,
                                   tile.a.get(what.a, type_width(what.a_type), {{'b', block}, {'i', i}, {'k', k}})));
    terms.b.push_back(decode_value(what.b_type, chip,
                                   tile.b.get(what.b, type_width(what.b_type), {{'b', block}, {'j', j}, {'k', k}})));
    terms.a_exponent.push_back(exponent_of(terms.a.back(), smallest_exponent(what.a_type, chip)));
    terms.b_exponent.push_back(exponent_of(terms.b.back(), smallest_exponent(what.b_type, chip)));
  }
  return terms;
}

float addend_of(const Tile& tile, int block, int i, int j) {
  return as_float(static_cast<std::uint32_t>(tile.c.get(tile.of->result, 32, {{'b', block}, {'i', i}, {'j', j}})));
}

void require_rule(const std::string& name, Chip chip, int group, bool two_way) {
  const Instruction& what = instruction(name);
  Random random;
  for (const Distribution& distribution : kDistributions)
    for (int repeat = 0; repeat < kTilesOfADistribution; ++repeat) {
      Tile tile(what);
      fill(tile, distribution, chip, random);
      if (repeat % 2 != 0) repeat_columns(tile, repeat % what.n + 1);
      for (const HostIsa isa : host_isas()) {
        find_tile(name, chip, MatrixModel::kCdna3, isa)(tile.arguments());
        Disagreements disagreements;
        // Some of the elements, others each time: the transcription is slow.
        const int step = what.blocks * what.m * what.n / 32 + 1;
        for (int at = repeat % step; at < what.blocks * what.m * what.n; at += step) {
          const int block = at / (what.m * what.n), i = at / what.n % what.m, j = at % what.n;
          const float c = addend_of(tile, block, i, j);
          const std::uint32_t expected = as_bits(model(terms_of(tile, chip, block, i, j), c, group, two_way));
          const auto got = static_cast<std::uint32_t>(tile.get_d(block, i, j));
          const bool zeros = as_float(got) == 0 && as_float(expected) == 0;
          disagreements.note(zeros || same(got, expected), static_cast<std::uint64_t>(at), as_bits(c), got, expected);
        }
        INFO(name << ", " << distribution.name << ", tile " << repeat << ", host instruction set "
                  << static_cast<int>(isa));
        REQUIRE_AGREEMENT(disagreements);
      }
    }
}

}  // namespace

TEST_CASE("f16 and bf16 sums follow the truncating rule in groups of eight") {
  for (const char* type : {"f16", "bf16"}) {
    for (const char* shape : {"16x16x32_", "32x32x16_"})
      require_rule(std::string("v_mfma_f32_") + shape + type, Chip::kGfx950, 8, false);
    for (const char* shape : {"16x16x16_", "32x32x8_"})
      require_rule(std::string("v_mfma_f32_") + shape + type, Chip::kGfx942, 8, false);
    for (const char* shape : {"32x32x4_2b_", "16x16x4_4b_", "4x4x4_16b_"})
      require_rule(std::string("v_mfma_f32_") + shape + type, Chip::kGfx950, 4, false);
  }
}

TEST_CASE("xf32 sums cut the inputs and follow the truncating rule in groups of four") {
  require_rule("v_mfma_f32_16x16x8_xf32", Chip::kGfx942, 4, false);
}

TEST_CASE("8-bit sums follow the two-way rule in groups of sixteen") {
  for (const char* shape : {"16x16x32_", "32x32x16_"})
    for (const char* types : {"fp8_fp8", "fp8_bf8", "bf8_fp8", "bf8_bf8"})
      for (const Chip chip : {Chip::kGfx942, Chip::kGfx950})
        require_rule(std::string("v_mfma_f32_") + shape + types, chip, 16, true);
}

TEST_CASE("every model stays within its proved distance of the exact sum") {
  struct Bound {
    const char* name;
    double cdna3, chain;
  };
  constexpr double kRounding = 0x1p-24;
  for (const Bound& bound :
       {Bound{"v_mfma_f32_16x16x32_bf16", 16, 32}, Bound{"v_mfma_f32_16x16x32_f16", 16, 32},
        Bound{"v_mfma_f32_16x16x32_fp8_fp8", 14, 32}, Bound{"v_mfma_f32_16x16x32_bf8_fp8", 14, 32}}) {
    Random random;
    for (int repeat = 0; repeat < kTilesOfADistribution; ++repeat) {
      Tile tile(instruction(bound.name));
      fill(tile, kDistributions[5], Chip::kGfx950, random);  // no denormal inputs; then some that leave rounding errors
      for (int i = 0; i < 16; ++i)
        for (int k = 0; k < 32; ++k) tile.set_a(0, i, k, nearby(tile.of->a_type, Chip::kGfx950, spread(random, 5)));
      for (const MatrixModel model : {MatrixModel::kCdna3, MatrixModel::kFmaChain, MatrixModel::kExact}) {
        find_tile(bound.name, Chip::kGfx950, model)(tile.arguments());
        const double limit =
            model == MatrixModel::kCdna3 ? bound.cdna3 : (model == MatrixModel::kFmaChain ? bound.chain : 1);
        for (int i = 0; i < 16; ++i)
          for (int j = 0; j < 16; ++j) {
            const Terms terms = terms_of(tile, Chip::kGfx950, 0, i, j);
            Real exact = addend_of(tile, 0, i, j), size = std::fabs(exact);
            for (std::size_t k = 0; k < terms.a.size(); ++k)
              exact += terms.a[k] * terms.b[k], size += std::fabs(terms.a[k] * terms.b[k]);
            const Real got = as_float(static_cast<std::uint32_t>(tile.get_d(0, i, j)));
            if (std::fabs(got - exact) > limit * kRounding * size)
              FAIL(bound.name << ", model " << static_cast<int>(model));
          }
      }
    }
  }
}

}  // namespace monojit::emulator::numerics_test
