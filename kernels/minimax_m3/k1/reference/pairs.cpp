#include "kernels/minimax_m3/k1/reference/pairs.h"

#include <bit>
#include <cstddef>
#include <span>

#include "kernels/common/reference/tensors.h"
#include "kernels/minimax_m3/k1/layout.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::elements;

std::size_t first_word(std::int64_t region, std::int64_t index) {
  return static_cast<std::size_t>(region / 4 + 2 * index);
}

}  // namespace

std::uint32_t launch_tag(const std::vector<Tensor>& tensors) {
  const auto step = elements<std::uint32_t>(tensors, "step")[0];
  return step * kLayerSlots + elements<std::uint32_t>(tensors, "layer")[0] + 1;
}

Pair stored_pair(const std::vector<Tensor>& tensors, std::string_view name, std::int64_t region, std::int64_t index) {
  const auto words = elements<std::uint32_t>(tensors, name).subspan(first_word(region, index), 2);
  return {words[0], words[1]};
}

void put_pair(std::vector<Tensor>& tensors, std::string_view name, std::int64_t region, std::int64_t index,
              std::uint32_t value) {
  const auto words = elements<std::uint32_t>(tensors, name).subspan(first_word(region, index), 2);
  words[0] = value;
  words[1] = launch_tag(tensors);
}

float projected(const std::vector<Tensor>& tensors, int token, int row) {
  const std::int64_t rows = reference::named(tensors, "s_qkv").shape[0];
  return std::bit_cast<float>(stored_pair(tensors, "scratch", kScratchQkv, token * rows + row).value);
}

}  // namespace monojit::kernels::minimax_m3
