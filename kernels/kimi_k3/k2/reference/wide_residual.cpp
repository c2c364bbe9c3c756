#include "kernels/kimi_k3/k2/reference/wide_residual.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/common/reference/wide_dot.h"

namespace monojit::kernels::kimi_k3 {
namespace {

using reference::bf16_value;
using reference::kF32Unit;

// Roundings on the way of a value: a sum over a row goes through 3 additions in a lane, 5 between lanes, 6 in a group
// of slices and 7 between groups, or 1 + 6 + 27 for the latent row; there are two products before it.
constexpr double kScoreRoundings = 3 + 5 + 6 + 7 + 2;
constexpr double kSumRoundings = 1 + 6 + 27 + 1;
constexpr double kRstdRoundings = kSumRoundings / 2 + 4;  // root halves; scale, eps, rsq
constexpr double kExpRoundings = 4;                       // v_exp is good to 1 ulp
constexpr double kMixRoundings = 16;

struct Source {
  std::vector<double> values;
  double logit = 0;  // natural
  double slack = 0;  // of the logit
};

/// A sum that the kernel keeps in a float: beyond its range it is an infinity.
double in_float(double sum) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return std::fabs(sum) > kLargest ? std::copysign(std::numeric_limits<double>::infinity(), sum) : sum;
}

Source score(std::vector<double> values, const K2Key& key, const ResidualInputs& in) {
  double squares = 0;
  double dot = 0;
  double magnitude = 0;
  for (std::size_t i = 0; i < kHidden; ++i) {
    const double weight =
        static_cast<double>(bf16_value(in.norm_weight[i])) * static_cast<double>(bf16_value(in.score_weight[i]));
    squares += values[i] * values[i];
    dot += values[i] * weight;
    magnitude += std::fabs(values[i] * weight);
  }
  const double rstd = 1 / std::sqrt(in_float(squares) / kHidden + static_cast<double>(key.eps));
  const double logit = in_float(dot) * rstd;
  const double slack = kF32Unit * (kScoreRoundings * magnitude * rstd + (kRstdRoundings + 4) * std::fabs(logit));
  return {std::move(values), logit, slack};
}

std::vector<double> widened(std::span<const reference::BFloat16Bits> row) {
  std::vector<double> values;
  for (const reference::BFloat16Bits bits : row) values.push_back(static_cast<double>(bf16_value(bits)));
  return values;
}

}  // namespace

std::vector<WideValue> wide_norm(std::span<const WideValue> row, std::span<const reference::BFloat16Bits> weight,
                                 double eps) {
  double squares = 0;
  double errors = 0;
  for (const WideValue& v : row) {
    squares += v.value * v.value;
    errors += v.slack * v.slack;
  }
  const double mean = in_float(squares) / static_cast<double>(row.size());
  const double rstd = 1 / std::sqrt(mean + eps);
  const double relative = kF32Unit * (kRstdRoundings + 4) + (squares > 0 ? std::sqrt(errors / squares) : 0);
  std::vector<WideValue> result;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double scale = rstd * static_cast<double>(bf16_value(weight[i]));
    const double value = row[i].value * scale;
    result.push_back({value, std::fabs(scale) * row[i].slack + std::fabs(value) * relative});
  }
  return result;
}

std::vector<WideValue> wide_x(const K2Key& key, const ResidualInputs& in, std::size_t token) {
  std::vector<Source> sources;
  for (int block = 0; block < key.nblocks; ++block) {
    const auto first =
        static_cast<std::size_t>(static_cast<std::int64_t>(token) * in.token_stride + block * in.block_stride);
    sources.push_back(score(widened(in.blocks.subspan(first, kHidden)), key, in));
  }
  sources.push_back(score(widened(in.prefix.subspan(token * kHidden, kHidden)), key, in));

  double largest = sources.front().logit;
  double logit_slack = 0;
  for (const Source& source : sources) {
    largest = std::max(largest, source.logit);
    logit_slack = std::max(logit_slack, source.slack);
  }
  double total = 0;
  for (const Source& source : sources) total += std::exp(source.logit - largest);
  const double reach = std::fabs(largest) + std::fabs(sources.front().logit);
  const double relative = 2 * logit_slack + kF32Unit * (kExpRoundings + kMixRoundings + 2 * reach);
  std::vector<WideValue> mixed(kHidden);
  for (const Source& source : sources) {
    const double share = std::exp(source.logit - largest) / total;
    for (std::size_t i = 0; i < kHidden; ++i) {
      mixed[i].value += share * source.values[i];
      mixed[i].slack += share * std::fabs(source.values[i]) * relative;
    }
  }
  return wide_norm(mixed, in.in_weight, static_cast<double>(key.out_eps));
}

}  // namespace monojit::kernels::kimi_k3
