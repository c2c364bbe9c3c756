#include "kernels/minimax_m3/k1/reference/head.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/common/reference/float32.h"
#include "kernels/common/reference/fp8.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::bf16_value;

constexpr std::size_t kHalfRotary = kRotaryDim / 2;
constexpr std::size_t kLaneDims = 4;

float head_sum_of_squares(std::span<const float> head) {
  reference::HalfWave lanes{};
  for (std::size_t d = 0; d < head.size(); ++d) lanes[d / kLaneDims] = lanes[d / kLaneDims] + head[d] * head[d];
  return reference::half_wave_sum(lanes);
}

float row_scale(std::span<const float> row, KvScale mode, float scalar, float largest_code) {
  if (mode == KvScale::kScalarRead) return scalar;
  if (mode == KvScale::kStaticOne) return 1;
  float largest = 0;
  for (const float value : row) largest = reference::maximum(largest, std::fabs(value));
  return largest > 0 ? largest / largest_code : 1;  // a NaN is not above 0
}

std::uint8_t cache_byte(float value, bool saturate, const Chip& chip) {
  if (saturate) value = reference::maximum(reference::minimum(value, chip.cache_max), -chip.cache_max);
  return reference::fp8_bits(chip.format, value);
}

}  // namespace

HeadVector norm_and_rotate(std::span<const float> head, std::span<const reference::BFloat16Bits> gamma,
                           std::span<const reference::BFloat16Bits> cos_sin, float eps) {
  const float rstd = reference::rsq(head_sum_of_squares(head) / static_cast<float>(kHeadDim) + eps);
  HeadVector normed{};
  for (std::size_t d = 0; d < normed.size(); ++d) normed[d] = (head[d] * rstd) * (bf16_value(gamma[d]) + 1.0F);
  HeadVector out = normed;
  for (std::size_t i = 0; i < kHalfRotary; ++i) {
    const float cosine = bf16_value(cos_sin[i]);
    const float sine = bf16_value(cos_sin[kHalfRotary + i]);
    const float low = normed[i];
    const float high = normed[kHalfRotary + i];
    out[i] = std::fma(low, cosine, -(high * sine));
    out[kHalfRotary + i] = std::fma(high, cosine, low * sine);
  }
  return out;
}

CacheRow k_cache_row(const HeadVector& k, KvScale mode, float scalar, bool saturate, const Chip& chip) {
  CacheRow row;
  row.scale = row_scale(k, mode, scalar, chip.cache_max);  // of the values before their rounding to bf16
  std::ranges::transform(k, row.bytes.begin(), [&](float value) {
    return cache_byte(reference::round_bf16(value) / row.scale, saturate, chip);
  });
  return row;
}

CacheRow v_cache_row(std::span<const float> v, KvScale mode, float scalar, bool saturate, const Chip& chip) {
  CacheRow row;
  row.scale = row_scale(v, mode, scalar, chip.cache_max);
  std::ranges::transform(v, row.bytes.begin(),
                         [&](float value) { return cache_byte(value / row.scale, saturate, chip); });
  return row;
}

CacheRow index_cache_row(const HeadVector& index_k, bool saturate, const Chip& chip) {
  CacheRow row;
  std::ranges::transform(index_k, row.bytes.begin(),
                         [&](float value) { return cache_byte(reference::round_bf16(value), saturate, chip); });
  return row;
}

}  // namespace monojit::kernels::minimax_m3
