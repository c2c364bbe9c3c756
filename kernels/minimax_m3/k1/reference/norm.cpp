#include "kernels/minimax_m3/k1/reference/norm.h"

#include <cmath>
#include <cstddef>

#include "kernels/common/reference/float32.h"
#include "kernels/common/reference/fp8.h"
#include "kernels/minimax_m3/k1/layout.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::bf16_value;

constexpr std::size_t kThreadElements = 8;  // of a logical thread
constexpr std::size_t kHalfWaveLanes = 32;
constexpr std::size_t kHalfWaves = kHidden / (kThreadElements * kHalfWaveLanes);

QuantisedRow quantise(std::span<const float> normed, const Chip& chip) {
  float largest = 0;
  for (const float value : normed) largest = reference::maximum(largest, std::fabs(value));
  QuantisedRow row;
  row.scale = largest == 0 ? 1 : largest / chip.activation_max;
  const float reciprocal = 1.0F / row.scale;
  row.bytes.reserve(normed.size());
  for (const float value : normed) {
    const float quotient = reference::divide_by_reciprocal(value, row.scale, reciprocal);
    row.bytes.push_back(reference::fp8_bits(chip.format, quotient));
  }
  return row;
}

}  // namespace

float sum_of_squares(std::span<const float> row) {
  reference::HalfWave half_waves{};  // lanes beyond the 24th add zero
  for (std::size_t half_wave = 0; half_wave < kHalfWaves; ++half_wave) {
    reference::HalfWave lanes{};
    for (std::size_t lane = 0; lane < kHalfWaveLanes; ++lane) {
      for (const float value : row.subspan((half_wave * kHalfWaveLanes + lane) * kThreadElements, kThreadElements)) {
        lanes[lane] = std::fma(value, value, lanes[lane]);
      }
    }
    half_waves[half_wave] = reference::half_wave_sum(lanes);
  }
  return reference::half_wave_sum(half_waves);
}

NormedRow normalise_row(std::span<const reference::BFloat16Bits> ar, std::span<const reference::BFloat16Bits> res,
                        std::span<const reference::BFloat16Bits> gamma, float eps, const Chip& chip) {
  std::vector<float> sums(kHidden);
  NormedRow result;
  result.residual.resize(kHidden);
  for (std::size_t i = 0; i < kHidden; ++i) {
    sums[i] = bf16_value(ar[i]) + bf16_value(res[i]);
    result.residual[i] = reference::bf16_bits(sums[i]);
  }
  const float rstd = reference::rsq(sum_of_squares(sums) / static_cast<float>(kHidden) + eps);
  std::vector<float> normed(kHidden);
  for (std::size_t i = 0; i < kHidden; ++i) normed[i] = (sums[i] * rstd) * (bf16_value(gamma[i]) + 1.0F);
  result.quantised = quantise(normed, chip);
  return result;
}

}  // namespace monojit::kernels::minimax_m3
