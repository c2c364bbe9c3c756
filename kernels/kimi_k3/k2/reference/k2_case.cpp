#include "kernels/kimi_k3/k2/reference/k2_case.h"

#include <cstddef>

#include "kernels/kimi_k3/k2/reference/generate.h"
#include "kernels/kimi_k3/k2/reference/operands.h"

namespace monojit::kernels::kimi_k3 {
namespace {

constexpr std::int32_t kEpoch = 7;
constexpr int kLayer = 5;

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
  set_operand(rank(rank_number), name, index, value);
}

void K2Case::set_all(std::string_view name, std::int64_t index, float value) {
  for (int number = 0; number < kRanks; ++number) set(number, name, index, value);
}

void K2Case::fill(std::string_view name, float value) {
  for (int number = 0; number < kRanks; ++number) fill_operand(rank(number), name, value);
}

void K2Case::set_launch(std::int32_t epoch, std::int32_t layer) {
  for (int number = 0; number < kRanks; ++number) {
    rank(number).of<std::int32_t>("epoch")[0] = epoch;
    rank(number).of<std::int32_t>("layer")[0] = layer;
  }
}

void K2Case::set_expert(int rank_number, const ExpertMatrix& matrix, int expert, int row, int column, unsigned code,
                        unsigned scale_code) {
  set_expert_operand(rank(rank_number), matrix, expert, row, column, code, scale_code);
}

Mail K2Case::scratch_of(const GroupResult& result, int rank_number) const {
  return {writable(result[static_cast<std::size_t>(rank_number)].scratch), tag_of(rank(rank_number))};
}

Mail K2Case::peer_of(const GroupResult& result, int rank_number) const {
  return {writable(result[static_cast<std::size_t>(rank_number)].peer).subspan(half_offset(rank(rank_number))),
          tag_of(rank(rank_number))};
}

}  // namespace monojit::kernels::kimi_k3
