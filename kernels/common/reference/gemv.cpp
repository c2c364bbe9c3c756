#include "kernels/common/reference/gemv.h"

#include <cmath>
#include <limits>

namespace monojit::kernels::reference {
namespace {

constexpr std::size_t kGemvWaves = 8;
constexpr std::size_t kGemvChunk = 128;
constexpr std::size_t kStepsPerChunk = kGemvChunk / kMfmaK;

void add_zero_products(const WeightRows& weight, std::size_t chunk, std::span<MfmaColumn> sums) {
  for (int row = 0; row < kMfmaRows; ++row) {
    bool finite = true;
    for (std::size_t k = 0; k < kGemvChunk; ++k) {
      finite = finite && std::isfinite(bf16_value(weight.first[row * weight.pitch + chunk * kGemvChunk + k]));
    }
    if (finite) continue;
    for (MfmaColumn& sum : sums) sum[row] = std::numeric_limits<float>::quiet_NaN();
  }
}

}  // namespace

BFloat16Activations::BFloat16Activations(std::span<const BFloat16Bits> rows, std::size_t tokens)
    : tokens_(tokens), columns_(rows.size() / kMfmaK) {
  const std::size_t length = rows.size() / tokens;
  for (std::size_t step = 0; step < length / kMfmaK; ++step) {
    for (std::size_t token = 0; token < tokens; ++token) {
      columns_[step * tokens + token].load(rows.data() + token * length + step * kMfmaK);
    }
  }
}

std::vector<MfmaColumn> gemv_rows(MatrixModel model, const WeightRows& weight, const BFloat16Activations& activations,
                                  std::size_t first_chunk, std::size_t chunks) {
  std::vector<MfmaColumn> total(activations.tokens());
  for (std::size_t wave = 0; wave < kGemvWaves; ++wave) {
    std::vector<MfmaColumn> sums(activations.tokens());
    for (std::size_t chunk = wave; chunk < chunks; chunk += kGemvWaves) {
      for (std::size_t step = 0; step < kStepsPerChunk; ++step) {
        WeightStep rows;
        rows.load(weight.first + chunk * kGemvChunk + step * kMfmaK, weight.pitch);
        add_step(model, rows, activations.step((first_chunk + chunk) * kStepsPerChunk + step), sums);
      }
    }
    const std::size_t live = (chunks + kGemvWaves - 1 - wave) / kGemvWaves;
    const std::size_t rounds = (chunks + kGemvWaves - 1) / kGemvWaves;
    if (live < rounds) add_zero_products(weight, chunks - 1, sums);
    for (std::size_t token = 0; token < sums.size(); ++token) {
      for (int row = 0; row < kMfmaRows; ++row) total[token][row] = total[token][row] + sums[token][row];
    }
  }
  return total;
}

}  // namespace monojit::kernels::reference
