#include "kernels/minimax_m3/k1/reference/wide_head.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::bf16_value;

constexpr double kRelativeSlack = 0x1p-20;
constexpr double kAbsoluteSlack = 0x1p-140;  // of results that are f32 denormals
constexpr std::size_t kHalfRotary = kRotaryDim / 2;

Wide with_slack(double value, double magnitude) { return {value, kRelativeSlack * magnitude + kAbsoluteSlack}; }

}  // namespace

double reciprocal_deviation(std::span<const float> row, double eps) {
  double sum = 0;
  for (const double value : row) sum += value * value;
  if (sum > static_cast<double>(std::numeric_limits<float>::max())) return 0;
  const double mean = sum / static_cast<double>(row.size()) + eps;
  if (mean < static_cast<double>(std::numeric_limits<float>::min())) return std::numeric_limits<double>::infinity();
  return 1 / std::sqrt(mean);
}

WideHead wide_norm_and_rotate(std::span<const float> head, std::span<const reference::BFloat16Bits> gamma,
                              std::span<const reference::BFloat16Bits> cos_sin, double eps) {
  const double scale = reciprocal_deviation(head, eps);
  std::array<double, kHeadDim> normed{};
  for (std::size_t d = 0; d < normed.size(); ++d) normed[d] = head[d] * scale * (1.0 + bf16_value(gamma[d]));
  WideHead out;
  for (std::size_t d = 0; d < kHeadDim; ++d) out[d] = with_slack(normed[d], std::fabs(normed[d]));
  for (std::size_t i = 0; i < kHalfRotary; ++i) {
    const double cosine = bf16_value(cos_sin[i]);
    const double sine = bf16_value(cos_sin[kHalfRotary + i]);
    const double low = normed[i];
    const double high = normed[kHalfRotary + i];
    out[i] = with_slack(low * cosine - high * sine, std::fabs(low * cosine) + std::fabs(high * sine));
    out[kHalfRotary + i] = with_slack(high * cosine + low * sine, std::fabs(high * cosine) + std::fabs(low * sine));
  }
  return out;
}

Wide wide_scale(const WideHead& head, double largest_code) {
  double largest = 0;
  double slack = 0;
  for (const Wide& element : head) {
    if (std::isnan(element.value)) return {1, 0};
    largest = std::max(largest, std::fabs(element.value));
    slack = std::max(slack, element.slack);
  }
  if (largest == 0) return {1, 0};
  return {largest / largest_code, slack / largest_code};
}

WideHead exact_head(std::span<const float> values) {
  WideHead head;
  std::ranges::transform(values, head.begin(), [](float value) { return Wide{value, 0}; });
  return head;
}

}  // namespace monojit::kernels::minimax_m3
