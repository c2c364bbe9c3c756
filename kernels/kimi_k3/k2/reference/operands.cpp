#include "kernels/kimi_k3/k2/reference/operands.h"

#include <algorithm>
#include <cstddef>

#include "kernels/common/reference/bfloat16.h"

namespace monojit::kernels::kimi_k3 {

using reference::bf16_bits;
using reference::BFloat16Bits;

void set_operand(const RankMemory& rank, std::string_view name, std::int64_t index, float value) {
  const TensorView& tensor = rank.view(name);
  const auto element = static_cast<std::size_t>(index);
  if (tensor.dtype == DType::kBFloat16) {
    rank.of<BFloat16Bits>(name)[element] = bf16_bits(value);
  } else {
    rank.of<float>(name)[element] = value;
  }
}

void fill_operand(const RankMemory& rank, std::string_view name, float value) {
  if (rank.view(name).dtype == DType::kBFloat16) {
    std::ranges::fill(rank.of<BFloat16Bits>(name), bf16_bits(value));
  } else {
    std::ranges::fill(rank.of<float>(name), value);
  }
}

void set_expert_operand(const RankMemory& rank, const ExpertMatrix& matrix, int expert, int row, int column,
                        unsigned code, unsigned scale_code) {
  const bool is_down = matrix.rows == kDownMatrix.rows;
  const auto weights = rank.of<std::uint8_t>(is_down ? "w2" : "w13");
  const auto scales = rank.of<std::uint8_t>(is_down ? "w2s" : "w13s");
  std::uint8_t& byte =
      weights[static_cast<std::size_t>(expert * matrix.weight_bytes() + matrix.weight_byte(row, column))];
  const unsigned shift = column % 2 == 0 ? 0 : 4;
  byte = static_cast<std::uint8_t>((byte & ~(15U << shift)) | code << shift);
  scales[static_cast<std::size_t>(expert * matrix.scale_bytes() + matrix.scale_byte(row, column / kMxBlock))] =
      static_cast<std::uint8_t>(scale_code);
}

}  // namespace monojit::kernels::kimi_k3
