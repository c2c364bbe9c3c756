#include "kernels/common/reference/gemv_step.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/gemv.h"
#include "kernels/common/reference/random.h"

namespace monojit::kernels::reference {
namespace {

constexpr std::uint64_t kSeed = 17;
constexpr int kVectors = 500;  // MFMAs a distribution and model

struct Operands {
  std::array<BFloat16Bits, std::size_t{kMfmaRows} * kMfmaK> a{};  // [row][k]
  std::array<BFloat16Bits, kMfmaK> b{};
  MfmaColumn c{};
};

/// The quick way's sums and mfma_bf16()'s, which knows nothing of ranges here.
struct Sums {
  MfmaColumn quick;
  MfmaColumn plain;
};
Sums both(MatrixModel model, const Operands& operands) {
  WeightStep weights;
  weights.load(operands.a.data(), kMfmaK);
  std::array<ActivationStep, 1> column{};
  column[0].load(operands.b.data());
  std::array<MfmaColumn, 1> sums = {operands.c};
  add_step(model, weights, column, sums);
  MfmaColumn plain = operands.c;
  constexpr BFloat16Range kAnything{0, std::numeric_limits<float>::infinity()};
  BFloat16Rows rows;
  for (int row = 0; row < kMfmaRows; ++row) {
    for (int k = 0; k < kMfmaK; ++k) {
      rows.value[k][row] = bf16_value(operands.a[row * kMfmaK + k]);
      rows.power[k][row] = bf16_power(rows.value[k][row]);
    }
  }
  mfma_bf16(model, kMfmaK, rows, column[0].column, kAnything, kAnything, plain);
  return {sums[0], plain};
}

bool same(const MfmaColumn& a, const MfmaColumn& b) {
  return std::ranges::equal(a, b, [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) || (std::isnan(x) && std::isnan(y));
  });
}

template <class Draw>
void check(Draw draw) {
  for (const MatrixModel model : {MatrixModel::kCdna3, MatrixModel::kFmaChain, MatrixModel::kExact}) {
    bool equal = true;
    for (int n = 0; n < kVectors; ++n) {
      Operands operands;
      for (BFloat16Bits& bits : operands.a) bits = bf16_bits(draw());
      for (BFloat16Bits& bits : operands.b) bits = bf16_bits(draw());
      for (float& c : operands.c) c = draw() * draw();
      const Sums sums = both(model, operands);
      equal = equal && same(sums.quick, sums.plain);
    }
    CHECK(equal);
  }
}

TEST_CASE("a GEMV's quick steps have the matrix core's bits") {
  Random random(kSeed, 0);
  SECTION("ordinary values") {
    check([&] { return random.gaussian(); });
  }
  SECTION("with zeros") {
    check([&] { return random.below(3) == 0 ? random.gaussian() : 0.0F; });
  }
  SECTION("many zeros") {
    check([&] { return random.below(30) == 0 ? random.gaussian() : 0.0F; });
  }
  SECTION("wide exponents") {
    check([&] { return std::ldexp(random.gaussian(), static_cast<int>(random.below(80)) - 40); });
  }
  SECTION("a few large ones") {
    check([&] { return random.below(10) == 0 ? 4096 * random.gaussian() : random.gaussian(); });
  }
  SECTION("denormals") {
    check([&] { return std::ldexp(random.gaussian(), -60 - static_cast<int>(random.below(80))); });
  }
  SECTION("infinities") {
    check([&] { return random.below(200) == 0 ? std::numeric_limits<float>::infinity() : random.gaussian(); });
  }
}

TEST_CASE("addends of any size and sign are joined as the matrix core does it") {
  Random random(kSeed, 1);
  bool equal = true;
  for (int n = 0; n < kVectors; ++n) {
    Operands operands;
    for (BFloat16Bits& bits : operands.a) bits = bf16_bits(random.gaussian());
    for (BFloat16Bits& bits : operands.b) bits = bf16_bits(random.gaussian());
    for (float& c : operands.c) c = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits()));
    const Sums sums = both(MatrixModel::kCdna3, operands);
    equal = equal && same(sums.quick, sums.plain);
  }
  CHECK(equal);
}

TEST_CASE("a GEMV takes chunks of 128 in turns of 8 waves and adds the waves in order") {
  constexpr std::size_t kChunks = 12;
  constexpr std::size_t kLength = kChunks * 128;
  std::vector<BFloat16Bits> weights(16 * kLength, 0);
  std::vector<BFloat16Bits> row(kLength, bf16_bits(1));
  const BFloat16Activations activations(row, 1);
  const auto set = [&](std::size_t n, std::size_t chunk, float value) {
    weights[n * kLength + chunk * 128] = bf16_bits(value);
  };
  // Row 0: waves 0 and 7 cancel around single ones of the waves between, which vanish one by one.
  set(0, 0, 0x1p24F);
  for (std::size_t wave = 1; wave < 7; ++wave) set(0, wave, 1);
  set(0, 7, -0x1p24F);
  // Row 1: chunks 0 and 8 are one wave's and cancel before the others are added.
  set(1, 0, 0x1p24F);
  set(1, 8, -0x1p24F);
  for (std::size_t wave = 1; wave < 7; ++wave) set(1, wave, 1);
  // Row 2: a weight of the last chunk that is not finite is multiplied by the zeros of idle waves.
  weights[2 * kLength + 11 * 128] = 0x7F80;
  const auto result = gemv_rows(MatrixModel::kCdna3, {weights.data(), kLength}, activations, 0, kChunks);
  CHECK(result[0][0] == 0);
  CHECK(result[0][1] == 6);
  CHECK(std::isnan(result[0][2]));
  CHECK(result[0][3] == 0);
}

}  // namespace
}  // namespace monojit::kernels::reference
