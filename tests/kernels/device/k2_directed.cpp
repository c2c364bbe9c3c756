#include "tests/kernels/device/k2_directed.h"

#include "kernels/kimi_k3/k2/reference/reference.h"

namespace monojit::tests {

using namespace kernels::kimi_k3;

namespace {

// With reset, the only source that is not zero is the prefix, and x is the mix of the sources over its own root mean
// square: sqrt(7168) = 84.66 for a single element, times a weight that brings it to a little more than 2, which rounds
// to 2.
constexpr float kNormWeight = 0.7578125F / 32;

}  // namespace

DirectedK2::DirectedK2(const K2Key& key)
    : key_(key), scratch_(scratch_layout(key.tokens, key.nblocks)), peer_(peer_layout(key.tokens)), group_(key) {
  for (const auto* name : {"ares_nw", "in_nw", "ln_w"}) fill(name, 1);
}

void DirectedK2::set_all(std::string_view name, std::int64_t index, float value) const {
  for (int number = 0; number < kRanks; ++number) set(number, name, index, value);
}

void DirectedK2::fill(std::string_view name, float value) const {
  for (int number = 0; number < kRanks; ++number) fill_operand(rank(number), name, value);
}

void DirectedK2::set_expert_all(const ExpertMatrix& matrix, int expert, int row, int column, unsigned code,
                                unsigned scale_code) const {
  for (int number = 0; number < kRanks; ++number) {
    set_expert_operand(rank(number), matrix, expert, row, column, code, scale_code);
  }
}

void DirectedK2::set_x(int token, std::int64_t column) const {
  set(0, "core", std::int64_t{token} * kCoreWidth + token, 4);
  set(0, "w_o", column * kCoreWidth + token, 4096);
  set_all("in_nw", column, kNormWeight);
}

std::string DirectedK2::disagreement() {
  group_.set_launch(++epoch_, back_slot(kFirstLayer));
  const GroupExpectation expected(key_, group_.memory());
  group_.launch(key_);
  return bit_disagreement(expected, group_.memory());
}

Mail DirectedK2::scratch(int number) const { return {rank(number).of<std::byte>("scratch"), tag_of(rank(number))}; }

Mail DirectedK2::peer(int number) const {
  return {rank(number).of<std::byte>("peer").subspan(half_offset(rank(number))), tag_of(rank(number))};
}

}  // namespace monojit::tests
