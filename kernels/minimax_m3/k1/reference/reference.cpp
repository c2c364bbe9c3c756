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
#include "kernels/minimax_m3/k1/reference/projection.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::BFloat16Bits;
using reference::elements;
using Tensors = std::vector<Tensor>;

/// The tensors of one launch, worked on in place.
class Run {
 public:
  Run(const K1Key& key, std::string_view arch, Tensors& tensors, reference::MatrixModel model)
      : key_(key), chip_(chip_rules(arch)), tensors_(tensors), model_(model), tag_(launch_tag(tensors)) {}

  void run() {
    const std::vector<QuantisedRow> rows = normalise();
    const std::vector<float> qkv =
        project(read<std::uint8_t>("w_qkv"), read<float>("s_qkv"), rows, chip_.format, model_);
    const std::size_t pitch = qkv.size() / rows.size();
    for (std::size_t i = 0; i < qkv.size(); ++i) put(kScratchQkv, i, qkv[i]);
    for (std::size_t token = 0; token < rows.size(); ++token) {
      heads(token, std::span(qkv).subspan(token * pitch, pitch));
    }
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

  void put(std::int64_t region, std::size_t index, float value) {
    const auto words = write<std::uint32_t>("scratch").subspan(region / 4 + 2 * index, 2);
    words[0] = std::bit_cast<std::uint32_t>(value);
    words[1] = tag_;
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

  void publish(int token, const QuantisedRow& row) {
    std::ranges::copy(row.bytes, write<std::uint8_t>("scratch").begin() + kScratchX8 + std::ptrdiff_t{token} * kHidden);
    put(kScratchX8Scale, static_cast<std::size_t>(token), row.scale);
  }

  HeadVector rotated(std::span<const float> head, std::string_view gamma, std::size_t token) const {
    const auto position = static_cast<std::int32_t>(read<std::int64_t>("positions")[token]);
    const auto cos_sin =
        read<BFloat16Bits>("cos_sin").subspan(static_cast<std::size_t>(position) * kRotaryDim, kRotaryDim);
    return norm_and_rotate(head, read<BFloat16Bits>(gamma), cos_sin, key_.eps);
  }

  void heads(std::size_t token, std::span<const float> row) {
    const auto head = [&](int task) { return row.subspan(static_cast<std::size_t>(task) * kHeadDim, kHeadDim); };
    constexpr std::size_t kHeads = std::size_t{kQHeads} * kHeadDim;
    const auto q_out = write<BFloat16Bits>("q_out").subspan(token * kHeads, kHeads);
    for (int task = 0; task < kQHeads; ++task) {
      std::ranges::transform(rotated(head(task), "g_q", token), q_out.begin() + std::ptrdiff_t{task} * kHeadDim,
                             reference::bf16_bits);
    }
    const auto iq_out = write<BFloat16Bits>("iq_out").subspan(token * kHeadDim, kHeadDim);
    std::ranges::transform(rotated(head(kIndexQTask), "g_iq", token), iq_out.begin(), reference::bf16_bits);

    const auto slot = static_cast<std::int32_t>(read<std::int64_t>("slot_mapping")[token]);
    if (slot < 0) return;
    const CachePlace place = cache_place(slot, key_.page_stride);
    insert(place,
           k_cache_row(rotated(head(kKTask), "g_k", token), key_.kv_scale, read<float>("k_scale")[0], key_.saturate,
                       chip_),
           "k_cache", "k_scale", k_cache_byte);
    insert(place, v_cache_row(head(kVTask), key_.kv_scale, read<float>("v_scale")[0], key_.saturate, chip_), "v_cache",
           "v_scale", v_cache_byte);
    insert(place, index_cache_row(rotated(head(kIndexKTask), "g_ik", token), key_.saturate, chip_), "index_cache", {},
           index_cache_byte);
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
  std::uint32_t tag_;
};

}  // namespace

std::uint32_t launch_tag(const Tensors& tensors) {
  const auto step = elements<std::uint32_t>(tensors, "step")[0];
  return step * kLayerSlots + elements<std::uint32_t>(tensors, "layer")[0] + 1;
}

std::vector<Tensor> run_reference(const K1Key& key, std::string_view arch, Tensors before,
                                  reference::MatrixModel model) {
  Run(key, arch, before, model).run();
  return before;
}

}  // namespace monojit::kernels::minimax_m3
