#include "kernels/minimax_m3/k1/reference/wide_norm.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>

#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/wide_head.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::bf16_value;

/// Of the device's f32: 26 roundings in the longest chain of the sum, halved by the root, a root within 2^-23, three
/// products.
constexpr double kRelativeSlack = 0x1p-19;
constexpr double kSmallestRow = 0x1p-100;

}  // namespace

std::vector<double> wide_normalised(std::span<const reference::BFloat16Bits> ar,
                                    std::span<const reference::BFloat16Bits> res,
                                    std::span<const reference::BFloat16Bits> gamma, float eps) {
  std::vector<float> sums(ar.size());
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = bf16_value(ar[i]) + bf16_value(res[i]);
  const double rstd = reciprocal_deviation(sums, static_cast<double>(eps));
  std::vector<double> normalised(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) normalised[i] = sums[i] * rstd * (1.0 + bf16_value(gamma[i]));
  return normalised;
}

void check_quantised(std::span<const double> normalised, const QuantisedRow& row, const Chip& chip,
                     reference::BoundTracker& tracker) {
  double largest = 0;
  for (const double value : normalised) {
    if (!(std::fabs(value) <= largest)) largest = std::fabs(value);  // a NaN stays
    if (std::isnan(largest)) break;
  }
  if (largest != 0 && largest < kSmallestRow) return;
  const double scale = largest == 0 ? 1 : largest / static_cast<double>(chip.activation_max);
  tracker.add_rounded(row.scale, scale, largest == 0 ? 0 : kRelativeSlack * scale, std::identity{});
  const auto rounded = [&](double value) {
    return reference::fp8_value(chip.format, reference::fp8_bits(chip.format, static_cast<float>(value)));
  };
  for (std::size_t i = 0; i < normalised.size(); ++i) {
    const double quotient = normalised[i] / row.scale;
    const double slack = kRelativeSlack * std::fabs(quotient);
    tracker.add(reference::fp8_value(chip.format, row.bytes[i]), quotient, rounded(quotient - slack),
                rounded(quotient + slack));
  }
}

}  // namespace monojit::kernels::minimax_m3
