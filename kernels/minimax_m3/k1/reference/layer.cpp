#include "kernels/minimax_m3/k1/reference/layer.h"

#include <algorithm>

#include "kernels/common/reference/tensors.h"
#include "kernels/minimax_m3/k1/layout.h"

namespace monojit::kernels::minimax_m3 {
namespace {

constexpr std::int64_t kBFloat16Bytes = 2;
constexpr std::int64_t kScaleBytes = 4;
constexpr std::int64_t kHeadNorms = 4;  // of q, k, index q and index k

std::int32_t number(const std::vector<Tensor>& tensors, std::string_view name) {
  return reference::elements<std::int32_t>(tensors, name)[0];
}

Tensor changed(const std::vector<Tensor>& tensors, std::string_view name, std::int32_t value) {
  Tensor tensor = reference::named(tensors, name);
  reference::elements<std::int32_t>(tensor)[0] = value;
  return tensor;
}

bool any_long(const std::vector<Tensor>& tensors) {
  return std::ranges::any_of(reference::elements<std::int32_t>(tensors, "seq_lens"),
                             [](std::int32_t keys) { return keys > kLongBlocks * kBlock; });
}

}  // namespace

Advance next_layer(const std::vector<Tensor>& tensors) {
  Advance next;
  next.swaps.emplace_back("res", "h_out");
  const std::int32_t layer = number(tensors, "layer");
  if (layer < kMaxLayer) {
    next.changes.push_back(changed(tensors, "layer", layer + 1));
  } else {
    next.changes.push_back(changed(tensors, "layer", 0));
    next.changes.push_back(changed(tensors, "step", number(tensors, "step") + 1));
  }
  return next;
}

std::vector<std::pair<std::string, std::int64_t>> layer_place(const std::vector<Tensor>& tensors) {
  return {{"step", number(tensors, "step")}, {"layer", number(tensors, "layer")}};
}

std::int64_t least_weight_bytes(const K1Key& key, const std::vector<Tensor>& tensors) {
  const std::int64_t rows = projection_rows(any_long(tensors) ? key.index_heads : 1);
  return rows * (kHidden + kScaleBytes) + kBFloat16Bytes * (kHidden + kHeadNorms * kHeadDim);
}

}  // namespace monojit::kernels::minimax_m3
