#include "kernels/kimi_k3/k2/reference/k2_case.h"

#include <algorithm>
#include <cstddef>

#include "kernels/kimi_k3/k2/reference/generate.h"

namespace monojit::kernels::kimi_k3 {
namespace {

using reference::bf16_bits;
using reference::BFloat16Bits;

constexpr std::int32_t kEpoch = 7;
constexpr int kLayer = 5;

void store(const TensorView& tensor, std::int64_t index, float value) {
  const auto element = static_cast<std::size_t>(index);
  if (tensor.dtype == DType::kBFloat16) {
    reinterpret_cast<BFloat16Bits*>(tensor.bytes.data())[element] = bf16_bits(value);
  } else {
    reinterpret_cast<float*>(tensor.bytes.data())[element] = value;
  }
}

std::span<std::byte> writable(const std::vector<std::byte>& bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

}  // namespace

K2Case::K2Case(const K2Key& case_key) : key(case_key), group(case_key) {
  for (int number = 0; number < kRanks; ++number) {
    rank(number).of<std::int32_t>("rank")[0] = number;
    rank(number).of<std::int32_t>("blk_sm")[0] = kMaxBlocks * kHidden;
    rank(number).of<std::int32_t>("blk_sr")[0] = kHidden;
  }
  for (const std::string_view name : {"ares_nw", "in_nw", "ln_w"}) fill(name, 1);
  set_launch(kEpoch, back_slot(kLayer));
}

K2Case K2Case::generated(const K2Key& case_key, std::uint64_t seed) {
  K2Case result(case_key);
  generate_group(case_key, seed, result.group.memory(), ExpertFill::kPicked);
  return result;
}

void K2Case::set(int rank_number, std::string_view name, std::int64_t index, float value) {
  store(rank(rank_number).view(name), index, value);
}

void K2Case::set_all(std::string_view name, std::int64_t index, float value) {
  for (int number = 0; number < kRanks; ++number) set(number, name, index, value);
}

void K2Case::fill(std::string_view name, float value) {
  for (int number = 0; number < kRanks; ++number) {
    const TensorView& tensor = rank(number).view(name);
    if (tensor.dtype == DType::kBFloat16) {
      std::ranges::fill(rank(number).of<BFloat16Bits>(name), bf16_bits(value));
    } else {
      std::ranges::fill(rank(number).of<float>(name), value);
    }
  }
}

void K2Case::set_launch(std::int32_t epoch, std::int32_t layer) {
  for (int number = 0; number < kRanks; ++number) {
    rank(number).of<std::int32_t>("epoch")[0] = epoch;
    rank(number).of<std::int32_t>("layer")[0] = layer;
  }
}

void K2Case::set_expert(int rank_number, const ExpertMatrix& matrix, int expert, int row, int column, unsigned code,
                        unsigned scale_code) {
  const bool is_down = matrix.rows == kDownMatrix.rows;
  const auto weights = rank(rank_number).of<std::uint8_t>(is_down ? "w2" : "w13");
  const auto scales = rank(rank_number).of<std::uint8_t>(is_down ? "w2s" : "w13s");
  std::uint8_t& byte =
      weights[static_cast<std::size_t>(expert * matrix.weight_bytes() + matrix.weight_byte(row, column))];
  const unsigned shift = column % 2 == 0 ? 0 : 4;
  byte = static_cast<std::uint8_t>((byte & ~(15U << shift)) | code << shift);
  scales[static_cast<std::size_t>(expert * matrix.scale_bytes() + matrix.scale_byte(row, column / kMxBlock))] =
      static_cast<std::uint8_t>(scale_code);
}

Mail K2Case::scratch_of(const GroupResult& result, int rank_number) const {
  return {writable(result[static_cast<std::size_t>(rank_number)].scratch), tag_of(rank(rank_number))};
}

Mail K2Case::peer_of(const GroupResult& result, int rank_number) const {
  return {writable(result[static_cast<std::size_t>(rank_number)].peer).subspan(half_offset(rank(rank_number))),
          tag_of(rank(rank_number))};
}

}  // namespace monojit::kernels::kimi_k3
