#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/fp8.h"
#include "kernels/common/reference/random.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/addresses.h"
#include "kernels/minimax_m3/k1/reference/projection.h"
#include "kernels/minimax_m3/k1/reference/wide_projection.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::Fp8Format;
using reference::MatrixModel;

constexpr MatrixModel kModels[] = {MatrixModel::kCdna3, MatrixModel::kFmaChain, MatrixModel::kExact};
constexpr std::uint64_t kSeed = 5;
constexpr int kWaveInputs = kHidden / kWaves;

/// 16 rows and one token of scale 1, all weights 0 and activations 256 until set: a weight of 256 makes a product of
/// 2^16.
struct Task {
  std::vector<std::uint8_t> weight = std::vector<std::uint8_t>(std::size_t{kRowsPerTask} * kHidden, 0);
  std::vector<float> scale = std::vector<float>(kRowsPerTask, 1);
  QuantisedRow token{std::vector<std::uint8_t>(kHidden, reference::fp8_bits(Fp8Format::kOcp, 256)), 1};

  void set(int row, int k, float value) { weight[weight_byte(row, k)] = reference::fp8_bits(Fp8Format::kOcp, value); }
  void set_product(int row, int k, float value) { set(row, k, value / 256); }
  float run(int row, MatrixModel model) const {
    return project(weight, scale, std::span(&token, 1), Fp8Format::kOcp, model)[static_cast<std::size_t>(row)];
  }
};

constexpr int kTermsOf2To24 = 256;  // products of 2^16

/// 2^24 with the given sign, spread over the first inputs of a wave.
void set_large(Task& task, int row, int first, float sign) {
  for (int i = 0; i < kTermsOf2To24; ++i) task.set_product(row, first + i, sign * 0x1p16F);
}

TEST_CASE("wave partials are summed in wave order") {
  Task task;
  set_large(task, 0, 0, 1);  // ((2^24 + 1) - 2^24) + 1: the first 1 is lost
  task.set_product(0, kWaveInputs, 1);
  set_large(task, 0, 2 * kWaveInputs, -1);
  task.set_product(0, 3 * kWaveInputs, 1);
  set_large(task, 1, 0, 1);  // waves 1 and 2 of it exchanged: nothing is lost
  set_large(task, 1, kWaveInputs, -1);
  task.set_product(1, 2 * kWaveInputs, 1);
  task.set_product(1, 7 * kWaveInputs, 1);
  set_large(task, 2, 0, 1);  // in one wave order, not in pairs or backwards: 1 of wave 3 is lost, 2 of wave 5 stays
  task.set_product(2, 3 * kWaveInputs, 1);
  set_large(task, 2, 4 * kWaveInputs, -1);
  task.set_product(2, 5 * kWaveInputs, 2);
  for (const MatrixModel model : kModels) {
    CHECK(task.run(0, model) == 1);
    CHECK(task.run(1, model) == 2);
    CHECK(task.run(2, model) == 2);
  }
}

TEST_CASE("a wave owns 768 neighbouring inputs") {
  // Row 0: the 1 meets 2^24 inside of wave 0's chain. Row 1: the wave's last input, when the chain is back at 0. Row 2:
  // behind 2^24, but in the next wave, whose partial 1 - 2^24 is exact.
  Task task;
  set_large(task, 0, 0, 1);
  task.set_product(0, 300, 1);  // absorbed by 2^24 inside of wave 0
  set_large(task, 0, 400, -1);
  set_large(task, 1, 0, 1);
  set_large(task, 1, 400, -1);
  task.set_product(1, kWaveInputs - 1, 1);
  set_large(task, 2, 400, 1);
  task.set_product(2, kWaveInputs, 1);
  set_large(task, 2, kWaveInputs + 64, -1);
  for (const MatrixModel model : kModels) {
    CHECK(task.run(0, model) == 0);
    CHECK(task.run(1, model) == 1);
    CHECK(task.run(2, model) == 1);
  }
}

TEST_CASE("an MFMA takes eight inputs of each lane group, first halves before second halves") {
  // MFMAs 0..7 (chunks 0..3) reach 2^24. MFMA 8 is chunk 4, half 0: k = 256 + 16 g + 0..7. A 1 there is absorbed; from
  // MFMA 9 on, -2^16 products come before it in every model if it stands in a later lane group.
  const std::pair<int, bool> cases[] = {{256 + 7, false},      {256 + 16, false}, {256 + 32 + 7, false},
                                        {256 + 48 + 7, false}, {256 + 24, true},  {256 + 40, true},
                                        {256 + 56, true}};
  for (const auto& [k, kept] : cases) {
    Task task;
    set_large(task, 0, 0, 1);
    task.set_product(0, k, 1);
    for (int group = 0; group < 4; ++group) {
      for (int i = 0; i < 8; ++i) {
        const int second_half = 256 + 16 * group + 8 + i;
        if (second_half != k) task.set_product(0, second_half, -0x1p16F);
      }
    }
    int missing = kTermsOf2To24 - (kept ? 31 : 32);
    for (int later = 320; missing > 0; ++later, --missing) task.set_product(0, later, -0x1p16F);
    for (const MatrixModel model : kModels) {
      INFO("k = " << k);
      CHECK(task.run(0, model) == (kept ? 1 : 0));
    }
  }
}

TEST_CASE("the activation scale comes before the row scale, one bf16 rounding after both") {
  Task task;
  task.set(0, 17, 3);
  task.token.scale = 0x1p-149F;  // y * xs is a denormal: 768 * 2^-149, exact; scaled up again it is whole
  task.scale[0] = 0x1p100F;
  CHECK(task.run(0, MatrixModel::kExact) == 768 * 0x1p-49F);
  task.token.scale = 0x1p120F;  // y * xs overflows although the result would not
  task.scale[0] = 0x1p-100F;
  CHECK(std::isinf(task.run(0, MatrixModel::kExact)));
  task.token.scale = 1;
  task.scale[0] = (1 + 3 * 0x1p-8F) / 768;
  CHECK(task.run(0, MatrixModel::kExact) == reference::round_bf16(768.0F * task.scale[0]));
}

TEST_CASE("each token has its own column: a NaN stays in it") {
  Task task;
  task.set(3, 1000, 2);
  std::vector<QuantisedRow> tokens(3, task.token);
  tokens[1].bytes[4000] = 0x7F;
  tokens[2].scale = 0.5F;
  const std::vector<float> result = project(task.weight, task.scale, tokens, Fp8Format::kOcp, MatrixModel::kCdna3);
  CHECK(result[3] == 512);
  for (std::size_t row = 0; row < kRowsPerTask; ++row) CHECK(std::isnan(result[kRowsPerTask + row]));
  CHECK(result[2 * kRowsPerTask + 3] == 256);
}

TEST_CASE("every model stays within 2^-16 of the exact sum") {
  reference::Random random(kSeed, 0);
  Task task;
  for (std::uint8_t& byte : task.token.bytes) byte = reference::fp8_bits(Fp8Format::kOcp, random.gaussian() * 100);
  for (std::uint8_t& byte : task.weight) byte = reference::fp8_bits(Fp8Format::kOcp, random.gaussian() * 100);
  const auto exact = exact_projection(task.weight, kRowsPerTask, std::span(&task.token, 1), Fp8Format::kOcp);
  for (int row = 0; row < kRowsPerTask; ++row) {
    long long sum = 0;  // in units of 2^-18
    long long magnitude = 0;
    for (int k = 0; k < kHidden; ++k) {
      const double product =
          static_cast<double>(reference::fp8_value(Fp8Format::kOcp, task.weight[weight_byte(row, k)])) *
          reference::fp8_value(Fp8Format::kOcp, task.token.bytes[static_cast<std::size_t>(k)]);
      sum += std::llround(product * 0x1p18);
      magnitude += std::llround(std::fabs(product) * 0x1p18);
    }
    CHECK(exact[static_cast<std::size_t>(row)].sum == static_cast<double>(sum) * 0x1p-18);
    CHECK(exact[static_cast<std::size_t>(row)].magnitude == static_cast<double>(magnitude) * 0x1p-18);
    for (const MatrixModel model : kModels) {
      const double bf16_step = std::fabs(exact[static_cast<std::size_t>(row)].sum) * 0x1p-8;
      CHECK(std::fabs(task.run(row, model) - exact[static_cast<std::size_t>(row)].sum) <=
            kProjectionBound * exact[static_cast<std::size_t>(row)].magnitude + bf16_step);
    }
  }
}

}  // namespace
}  // namespace monojit::kernels::minimax_m3
