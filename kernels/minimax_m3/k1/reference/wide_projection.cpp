#include "kernels/minimax_m3/k1/reference/wide_projection.h"

#include <array>
#include <cmath>
#include <cstddef>

#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/addresses.h"

namespace monojit::kernels::minimax_m3 {
namespace {

constexpr int kStep = 16;  // inputs that lie side by side for a row
using Rows = std::array<double, kRowsPerTask>;
using StepWeights = std::array<std::array<float, kRowsPerTask>, kStep>;

StepWeights decode(std::span<const std::uint8_t> weight, int row_group, int k, const reference::Fp8Table& table) {
  StepWeights values;
  for (int row = 0; row < kRowsPerTask; ++row) {
    const auto bytes = weight.subspan(weight_byte(row_group * kRowsPerTask + row, k), kStep);
    for (int i = 0; i < kStep; ++i) values[i][row] = table.value[bytes[i]];
  }
  return values;
}

struct RowSums {
  Rows sum{};
  Rows magnitude{};

  void add(const StepWeights& weights, const float* inputs) {
    for (int i = 0; i < kStep; ++i) {
      for (int row = 0; row < kRowsPerTask; ++row) {
        const float product = weights[i][row] * inputs[i];  // 8 significant bits: exact
        sum[row] += static_cast<double>(product);
        magnitude[row] += static_cast<double>(std::fabs(product));
      }
    }
  }
};

}  // namespace

std::vector<ExactDot> exact_projection(std::span<const std::uint8_t> weight, std::size_t rows,
                                       std::span<const QuantisedRow> tokens, reference::Fp8Format format) {
  const reference::Fp8Table& table = reference::fp8_table(format);
  std::vector<std::vector<float>> inputs;
  for (const QuantisedRow& token : tokens) {
    std::vector<float>& values = inputs.emplace_back();
    for (const std::uint8_t byte : token.bytes) values.push_back(table.value[byte]);
  }
  std::vector<ExactDot> dots(tokens.size() * rows);
  for (std::size_t row_group = 0; row_group < rows / kRowsPerTask; ++row_group) {
    std::vector<RowSums> sums(tokens.size());
    for (int k = 0; k < kHidden; k += kStep) {
      const StepWeights weights = decode(weight, static_cast<int>(row_group), k, table);
      for (std::size_t t = 0; t < tokens.size(); ++t) sums[t].add(weights, inputs[t].data() + k);
    }
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      for (std::size_t row = 0; row < kRowsPerTask; ++row) {
        dots[t * rows + row_group * kRowsPerTask + row] = {sums[t].sum[row], sums[t].magnitude[row]};
      }
    }
  }
  return dots;
}

}  // namespace monojit::kernels::minimax_m3
