#include "kernels/kimi_k3/k2/reference/wide_experts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/common/reference/wide_dot.h"
#include "kernels/kimi_k3/k2/reference/addresses.h"

namespace monojit::kernels::kimi_k3 {
namespace {

using reference::kF32Unit;
using reference::MxColumnBlock;

constexpr double kLinearBeta = 25;
/// A tanh by exponentials: its error is absolute, as 1 - e cancels; v_exp and v_rcp are good to 1 ulp each.
constexpr double kTanhError = 8 * kF32Unit;
constexpr double kProductRoundings = 8;

constexpr std::size_t kBlockBytes = kTileRows * kMxBlock / 2;
using BlockBytes = std::array<std::uint8_t, kBlockBytes>;

BlockBytes without_signs(const std::uint8_t* block) {
  BlockBytes bytes{};
  std::transform(block, block + kBlockBytes, bytes.begin(),
                 [](std::uint8_t byte) { return static_cast<std::uint8_t>(byte & 0x77); });
  return bytes;
}

MxColumnBlock without_signs(MxColumnBlock block) {
  for (auto* values : {&block.even, &block.odd}) {
    for (std::int8_t& value : *values) value = static_cast<std::int8_t>(std::abs(value));
  }
  return block;
}

/// Every row of an expert's matrix times a column: exact products, scales by powers of two.
std::vector<reference::WideDot> wide_rows(const ExpertMatrix& shape, std::span<const std::uint8_t> weights,
                                          std::span<const std::uint8_t> scales, int expert,
                                          std::span<const MxColumnBlock> column) {
  const std::uint8_t* const first_byte = weights.data() + expert * shape.weight_bytes();
  const std::uint8_t* const first_scale = scales.data() + expert * shape.scale_bytes();
  std::vector<MxColumnBlock> sizes;
  for (const MxColumnBlock& block : column) sizes.push_back(without_signs(block));
  std::vector<reference::WideDot> dots(static_cast<std::size_t>(shape.rows));
  for (int group = 0; group < shape.rows / kTileRows; ++group) {
    for (int block = 0; block < shape.columns / kMxBlock; ++block) {
      const std::uint8_t* const bytes = first_byte + shape.tile_byte(group, block / 4) + kBlockBytes * (block % 4);
      const auto index = static_cast<std::size_t>(block);
      const auto sum = reference::mx_dots(bytes, column[index]);
      const auto size = reference::mx_dots(without_signs(bytes).data(), sizes[index]);
      for (int row = 0; row < kTileRows; ++row) {
        const int n = group * kTileRows + row;
        const double scale = std::ldexp(0.25, first_scale[shape.scale_byte(n, block)] + column[index].code - 254);
        dots[static_cast<std::size_t>(n)].sum += sum[row] * scale;
        dots[static_cast<std::size_t>(n)].magnitude += size[row] * scale;
      }
    }
  }
  return dots;
}

WideValue with_slack(const reference::WideDot& dot, double bound) { return {dot.sum, dot.magnitude * bound}; }

}  // namespace

WideValue wide_shared_activation(double gate, double up) {
  const double first = std::tanh(gate * 0.25);
  const double second = std::tanh(gate * 0.5);
  const double third = std::tanh(up / kLinearBeta);
  const double a = 2 * first * (1 + second);
  const double a_slack = 2 * kTanhError * (1 + std::fabs(second) + std::fabs(first));
  const double value = a * kLinearBeta * third;
  return {value, kLinearBeta * (a_slack * std::fabs(third) + std::fabs(a) * kTanhError) +
                     kProductRoundings * kF32Unit * std::fabs(value)};
}

WideValue wide_expert_activation(const WideValue& gate, const WideValue& up) {
  const double first = std::tanh(gate.value * 0.25);
  const double sigmoid = 1 / (1 + std::exp(-gate.value));
  const double third = std::tanh(up.value / kLinearBeta);
  const double a = 4 * first * sigmoid;
  // The slope of a stays below 2; of the last factor, times 25, below 1. An exponent's rounding grows with its size.
  const double sigmoid_slack = kF32Unit * (4 + 2 * std::fabs(gate.value)) * sigmoid;
  const double a_slack = 2 * gate.slack + 4 * (kTanhError * sigmoid + std::fabs(first) * sigmoid_slack);
  const double value = a * kLinearBeta * third;
  return {value, kLinearBeta * (a_slack * std::fabs(third) + std::fabs(a) * kTanhError) +
                     (std::fabs(a) + a_slack) * up.slack + kProductRoundings * kF32Unit * std::fabs(value)};
}

std::vector<WideValue> wide_intermediate(const ExpertWeights& weights, int expert,
                                         std::span<const MxColumnBlock> latent) {
  constexpr double kBound = reference::matrix_bound(kLatent / kTileColumns, kTileColumns, 2);
  const auto dots = wide_rows(kGateUpMatrix, weights.w13, weights.w13s, expert, latent);
  std::vector<WideValue> result;
  for (std::size_t i = 0; i < kIntermediate; ++i) {
    result.push_back(wide_expert_activation(with_slack(dots[i], kBound), with_slack(dots[kIntermediate + i], kBound)));
  }
  return result;
}

std::vector<WideValue> wide_down(const ExpertWeights& weights, int expert,
                                 std::span<const MxColumnBlock> intermediate) {
  constexpr double kBound = reference::matrix_bound(kIntermediate / kTileColumns, kTileColumns, 0);
  std::vector<WideValue> result;
  for (const auto& dot : wide_rows(kDownMatrix, weights.w2, weights.w2s, expert, intermediate)) {
    result.push_back(with_slack(dot, kBound));
  }
  return result;
}

}  // namespace monojit::kernels::kimi_k3
