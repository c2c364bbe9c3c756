#include "kernels/minimax_m3/k1/reference/wide.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/float32.h"
#include "kernels/common/reference/fp8.h"
#include "kernels/common/reference/tensors.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/addresses.h"
#include "kernels/minimax_m3/k1/reference/chip.h"
#include "kernels/minimax_m3/k1/reference/norm.h"
#include "kernels/minimax_m3/k1/reference/pairs.h"
#include "kernels/minimax_m3/k1/reference/projection.h"
#include "kernels/minimax_m3/k1/reference/scores.h"
#include "kernels/minimax_m3/k1/reference/step_rows.h"
#include "kernels/minimax_m3/k1/reference/wide_head.h"
#include "kernels/minimax_m3/k1/reference/wide_norm.h"
#include "kernels/minimax_m3/k1/reference/wide_projection.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::BFloat16Bits;
using reference::BoundTracker;
using reference::elements;

class Checker {
 public:
  Checker(const K1Key& key, std::string_view arch, const std::vector<Tensor>& before, const std::vector<Tensor>& after)
      : key_(key), chip_(chip_rules(arch)), before_(before), after_(after) {}

  WideCheck run() {
    residual();
    const std::vector<QuantisedRow> rows = activations();
    for (const RowRange& range : projected_rows(key_, is_long_step(key_, before_))) projection(rows, range);
    for (int token = 0; token < key_.tokens; ++token) heads(static_cast<std::size_t>(token));
    if (key_.scorer) check_scores(key_, chip_, after_, result_.iscore);
    return result_;
  }

 private:
  template <class T>
  std::span<const T> before(std::string_view name) const {
    return elements<T>(before_, name);
  }
  template <class T>
  std::span<const T> after(std::string_view name) const {
    return elements<T>(after_, name);
  }

  void residual() {
    const auto ar = before<BFloat16Bits>("ar");
    const auto res = before<BFloat16Bits>("res");
    const auto h_out = after<BFloat16Bits>("h_out");
    for (std::size_t i = 0; i < h_out.size(); ++i) {
      const double sum =
          static_cast<double>(reference::bf16_value(ar[i])) + static_cast<double>(reference::bf16_value(res[i]));
      result_.h_out.add_rounded(reference::bf16_value(h_out[i]), sum, 0, reference::round_bf16);
    }
  }

  /// Of all tokens: the device's own where it published them, after a look at them.
  std::vector<QuantisedRow> activations() {
    std::vector<QuantisedRow> rows;
    for (int token = 0; token < key_.tokens; ++token) {
      const std::size_t first = static_cast<std::size_t>(token) * kHidden;
      const auto ar = before<BFloat16Bits>("ar").subspan(first, kHidden);
      const auto res = before<BFloat16Bits>("res").subspan(first, kHidden);
      const auto gamma = before<BFloat16Bits>("g_in");
      if (key_.tokens <= kSelfNormTokens) {
        rows.push_back(normalise_row(ar, res, gamma, key_.eps, chip_).quantised);
        continue;
      }
      QuantisedRow& row = rows.emplace_back();
      const auto bytes = after<std::uint8_t>("scratch").subspan(kScratchX8 + first, kHidden);
      row.bytes.assign(bytes.begin(), bytes.end());
      row.scale = std::bit_cast<float>(stored_pair(after_, "scratch", kScratchX8Scale, token).value);
      check_quantised(wide_normalised(ar, res, gamma, key_.eps), row, chip_, result_.x8);
    }
    return rows;
  }

  void projection(const std::vector<QuantisedRow>& rows, const RowRange& range) {
    const auto first = static_cast<std::size_t>(range.first);
    const auto count = static_cast<std::size_t>(range.count);
    const auto scales = before<float>("s_qkv").subspan(first, count);
    const auto weight = before<std::uint8_t>("w_qkv").subspan(first * kHidden, count * kHidden);
    const std::vector<ExactDot> dots = exact_projection(weight, count, rows, chip_.format);
    for (std::size_t i = 0; i < dots.size(); ++i) {
      const float activation_scale = rows[i / count].scale;
      const float row_scale = scales[i % count];
      const auto rounded = [&](double y) {
        return reference::round_bf16((static_cast<float>(y) * activation_scale) * row_scale);
      };
      const double slack = kProjectionBound * dots[i].magnitude;
      const float stored = projected(after_, static_cast<int>(i / count), range.first + static_cast<int>(i % count));
      result_.qkv.add(stored, dots[i].sum * activation_scale * row_scale, rounded(dots[i].sum - slack),
                      rounded(dots[i].sum + slack));
    }
  }

  std::array<float, kHeadDim> head(std::size_t token, int number) const {
    std::array<float, kHeadDim> values{};
    for (int d = 0; d < kHeadDim; ++d) values[d] = projected(after_, static_cast<int>(token), number * kHeadDim + d);
    return values;
  }

  WideHead rotated(std::size_t token, int task, std::string_view gamma) const {
    const auto position = static_cast<std::int32_t>(before<std::int64_t>("positions")[token]);
    const std::size_t first = static_cast<std::size_t>(position) * kRotaryDim;
    return wide_norm_and_rotate(head(token, task), before<BFloat16Bits>(gamma),
                                before<BFloat16Bits>("cos_sin").subspan(first, kRotaryDim), key_.eps);
  }

  void query(const WideHead& wide, std::span<const BFloat16Bits> row, BoundTracker& tracker) const {
    for (std::size_t d = 0; d < wide.size(); ++d) {
      tracker.add_rounded(reference::bf16_value(row[d]), wide[d].value, wide[d].slack, reference::round_bf16);
    }
  }

  void heads(std::size_t token) {
    for (int task = 0; task < kQHeads; ++task) {
      const std::size_t first = (token * kQHeads + static_cast<std::size_t>(task)) * kHeadDim;
      query(rotated(token, task, "g_q"), after<BFloat16Bits>("q_out").subspan(first, kHeadDim), result_.q_out);
    }
    query(rotated(token, index_q_head(key_.index_own), "g_iq"),
          after<BFloat16Bits>("iq_out").subspan(token * kHeadDim, kHeadDim), result_.iq_out);
    const auto slot = static_cast<std::int32_t>(before<std::int64_t>("slot_mapping")[token]);
    if (slot < 0) return;
    const CachePlace place = cache_place(slot, key_.page_stride);
    const WideHead k = rotated(token, kKTask, "g_k");
    const float k_scale = scale(k, "k_scale", place, result_.k_scale);
    insert(k, k_scale, "k_cache", place, k_cache_byte, reference::round_bf16, result_.k_cache);
    const WideHead v = exact_head(head(token, kVTask));
    const float v_scale = scale(v, "v_scale", place, result_.v_scale);
    insert(v, v_scale, "v_cache", place, v_cache_byte, std::identity{}, result_.v_cache);
    insert(rotated(token, index_k_head(key_.index_heads), "g_ik"), 1, "index_cache", place, index_cache_byte,
           reference::round_bf16, result_.index_cache);
  }

  /// Checks the stored scale and returns it: the bytes are judged by it.
  float scale(const WideHead& head, std::string_view name, const CachePlace& place, BoundTracker& tracker) const {
    if (key_.kv_scale == KvScale::kScalarRead) return before<float>(name)[0];
    const float stored = after<float>(name)[scale_index(place)];
    const Wide wide = key_.kv_scale == KvScale::kStaticOne ? Wide{1, 0} : wide_scale(head, chip_.cache_max);
    tracker.add_rounded(stored, wide.value, wide.slack, std::identity{});
    return stored;
  }

  template <class Rounding>
  void insert(const WideHead& head, float scale, std::string_view cache, const CachePlace& place,
              std::int64_t (*byte)(const CachePlace&, std::int64_t), Rounding first_rounding,
              BoundTracker& tracker) const {
    const auto bytes = after<std::uint8_t>(cache);
    const auto rounded = [&](double value) {
      float quotient = first_rounding(static_cast<float>(value)) / scale;
      if (key_.saturate) quotient = clamped(quotient);
      return reference::fp8_value(chip_.format, reference::fp8_bits(chip_.format, quotient));
    };
    for (std::size_t d = 0; d < head.size(); ++d) {
      const double wide = head[d].value / scale;
      const std::uint8_t stored = bytes[reached_byte(byte(place, static_cast<std::int64_t>(d)), key_.page_base64)];
      tracker.add(reference::fp8_value(chip_.format, stored), key_.saturate ? clamped(wide) : wide,
                  rounded(head[d].value - head[d].slack), rounded(head[d].value + head[d].slack));
    }
  }

  template <class T>
  T clamped(T value) const {
    return std::isnan(value) ? value
                             : std::clamp(value, static_cast<T>(-chip_.cache_max), static_cast<T>(chip_.cache_max));
  }

  const K1Key& key_;
  Chip chip_;
  const std::vector<Tensor>& before_;
  const std::vector<Tensor>& after_;
  WideCheck result_;
};

}  // namespace

WideCheck check_wide(const K1Key& key, std::string_view arch, const std::vector<Tensor>& before,
                     const std::vector<Tensor>& after) {
  return Checker(key, arch, before, after).run();
}

}  // namespace monojit::kernels::minimax_m3
