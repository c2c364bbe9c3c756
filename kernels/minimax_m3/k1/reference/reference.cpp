#include "kernels/minimax_m3/k1/reference/reference.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/tensors.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/addresses.h"
#include "kernels/minimax_m3/k1/reference/chip.h"
#include "kernels/minimax_m3/k1/reference/head.h"
#include "kernels/minimax_m3/k1/reference/norm.h"
#include "kernels/minimax_m3/k1/reference/pairs.h"
#include "kernels/minimax_m3/k1/reference/projection.h"
#include "kernels/minimax_m3/k1/reference/scores.h"
#include "kernels/minimax_m3/k1/reference/step_rows.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::BFloat16Bits;
using reference::elements;
using Tensors = std::vector<Tensor>;

/// The tensors of one launch, worked on in place.
class Run {
 public:
  Run(const K1Key& key, std::string_view arch, Tensors& tensors, reference::MatrixModel model)
      : key_(key), chip_(chip_rules(arch)), tensors_(tensors), model_(model) {}

  void run() {
    project_rows(normalise());
    for (int token = 0; token < key_.tokens; ++token) heads(token);
    if (key_.signal) flags();
    if (key_.scorer) score_step(key_, chip_, tensors_, model_);
  }

 private:
  template <class T>
  std::span<const T> read(std::string_view name) const {
    return elements<T>(std::as_const(tensors_), name);
  }
  template <class T>
  std::span<T> write(std::string_view name) {
    return elements<T>(tensors_, name);
  }

  void put(std::int64_t region, std::int64_t index, float value) {
    put_pair(tensors_, "scratch", region, index, std::bit_cast<std::uint32_t>(value));
  }

  std::vector<QuantisedRow> normalise() {
    std::vector<QuantisedRow> rows;
    for (int token = 0; token < key_.tokens; ++token) {
      const std::size_t first = static_cast<std::size_t>(token) * kHidden;
      NormedRow row =
          normalise_row(read<BFloat16Bits>("ar").subspan(first, kHidden),
                        read<BFloat16Bits>("res").subspan(first, kHidden), read<BFloat16Bits>("g_in"), key_.eps, chip_);
      std::ranges::copy(row.residual, write<BFloat16Bits>("h_out").begin() + static_cast<std::ptrdiff_t>(first));
      if (key_.tokens > kSelfNormTokens) publish(token, row.quantised);
      rows.push_back(std::move(row.quantised));
    }
    return rows;
  }

  void project_rows(const std::vector<QuantisedRow>& tokens) {
    const std::int64_t pitch = projection_rows(key_.index_heads);
    for (const RowRange& range : projected_rows(key_, is_long_step(key_, tensors_))) {
      const auto count = static_cast<std::size_t>(range.count);
      const auto first = static_cast<std::size_t>(range.first);
      const auto weight = read<std::uint8_t>("w_qkv").subspan(first * kHidden, count * kHidden);
      const std::vector<float> values =
          project(weight, read<float>("s_qkv").subspan(first, count), tokens, chip_.format, model_);
      for (std::size_t i = 0; i < values.size(); ++i) {
        put(kScratchQkv,
            static_cast<std::int64_t>(i / count) * pitch + range.first + static_cast<std::int64_t>(i % count),
            values[i]);
      }
    }
  }

  void flags() {
    constexpr std::uint32_t kDone = 1;
    for (int token = 0; token < key_.tokens; ++token) {
      for (int task = 0; task < kHeadTasks; ++task) {
        put_pair(tensors_, "scratch", kScratchHeadsDone, std::int64_t{token} * kHeadTasks + task, kDone);
      }
      put_pair(tensors_, "scratch", kScratchRowsDone, token, kDone);
    }
  }

  void publish(int token, const QuantisedRow& row) {
    std::ranges::copy(row.bytes, write<std::uint8_t>("scratch").begin() + kScratchX8 + std::ptrdiff_t{token} * kHidden);
    put(kScratchX8Scale, token, row.scale);
  }

  HeadVector head(int token, int head) const {
    HeadVector values{};
    for (int d = 0; d < kHeadDim; ++d) values[d] = projected(tensors_, token, head * kHeadDim + d);
    return values;
  }

  HeadVector rotated(int token, int number, std::string_view gamma) const {
    const auto position = static_cast<std::int32_t>(read<std::int64_t>("positions")[token]);
    const auto cos_sin =
        read<BFloat16Bits>("cos_sin").subspan(static_cast<std::size_t>(position) * kRotaryDim, kRotaryDim);
    return norm_and_rotate(head(token, number), read<BFloat16Bits>(gamma), cos_sin, key_.eps);
  }

  void heads(int token) {
    const auto row = static_cast<std::size_t>(token);
    constexpr std::size_t kHeads = std::size_t{kQHeads} * kHeadDim;
    const auto q_out = write<BFloat16Bits>("q_out").subspan(row * kHeads, kHeads);
    for (int q = 0; q < kQHeads; ++q) {
      std::ranges::transform(rotated(token, q, "g_q"), q_out.begin() + std::ptrdiff_t{q} * kHeadDim,
                             reference::bf16_bits);
    }
    const auto iq_out = write<BFloat16Bits>("iq_out").subspan(row * kHeadDim, kHeadDim);
    std::ranges::transform(rotated(token, index_q_head(key_.index_own), "g_iq"), iq_out.begin(), reference::bf16_bits);

    const auto slot = static_cast<std::int32_t>(read<std::int64_t>("slot_mapping")[row]);
    if (slot < 0) return;
    const CachePlace place = cache_place(slot, key_.page_stride);
    insert(place,
           k_cache_row(rotated(token, kKTask, "g_k"), key_.kv_scale, read<float>("k_scale")[0], key_.saturate, chip_),
           "k_cache", "k_scale", k_cache_byte);
    insert(place, v_cache_row(head(token, kVTask), key_.kv_scale, read<float>("v_scale")[0], key_.saturate, chip_),
           "v_cache", "v_scale", v_cache_byte);
    insert(place, index_cache_row(rotated(token, index_k_head(key_.index_heads), "g_ik"), key_.saturate, chip_),
           "index_cache", {}, index_cache_byte);
  }

  void insert(const CachePlace& place, const CacheRow& row, std::string_view cache, std::string_view scale,
              std::int64_t (*byte)(const CachePlace&, std::int64_t)) {
    const auto bytes = write<std::uint8_t>(cache);
    for (int d = 0; d < kHeadDim; ++d) bytes[reached_byte(byte(place, d), key_.page_base64)] = row.bytes[d];
    if (!scale.empty() && key_.kv_scale != KvScale::kScalarRead) write<float>(scale)[scale_index(place)] = row.scale;
  }

  const K1Key& key_;
  Chip chip_;
  Tensors& tensors_;
  reference::MatrixModel model_;
};

}  // namespace

std::vector<Tensor> run_reference(const K1Key& key, std::string_view arch, Tensors before,
                                  reference::MatrixModel model) {
  Run(key, arch, before, model).run();
  return before;
}

}  // namespace monojit::kernels::minimax_m3
