#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/reference/mail.h"
#include "kernels/kimi_k3/k2/reference/operands.h"
#include "tests/kernels/device/k2_group.h"

namespace monojit::tests {

/// A launch of eight devices whose operands are zeros (norm weights: ones) until a test sets them, so that results can
/// be told by hand.
class DirectedK2 {
 public:
  explicit DirectedK2(const kernels::kimi_k3::K2Key& key);

  const kernels::kimi_k3::RankMemory& rank(int number) const {
    return group_.memory()[static_cast<std::size_t>(number)];
  }
  void set(int number, std::string_view name, std::int64_t index, float value) const {
    kernels::kimi_k3::set_operand(rank(number), name, index, value);
  }
  void set_all(std::string_view name, std::int64_t index, float value) const;
  void fill(std::string_view name, float value) const;
  void set_expert_all(const kernels::kimi_k3::ExpertMatrix& matrix, int expert, int row, int column, unsigned code,
                      unsigned scale_code) const;

  /// Row `token` of x will have `column` not zero: 2, when it is the only one. For keys with reset and one block.
  void set_x(int token, std::int64_t column) const;

  /// Launches in a new epoch, and says where the reference's bits disagree.
  std::string disagreement();

  /// What the launch left.
  kernels::kimi_k3::Mail scratch(int number) const;
  kernels::kimi_k3::Mail peer(int number) const;
  const kernels::kimi_k3::ScratchLayout& regions() const { return scratch_; }
  const kernels::kimi_k3::PeerLayout& peer_regions() const { return peer_; }

 private:
  kernels::kimi_k3::K2Key key_;
  kernels::kimi_k3::ScratchLayout scratch_;
  kernels::kimi_k3::PeerLayout peer_;
  DeviceGroup group_;
  std::int32_t epoch_ = 0;
};

}  // namespace monojit::tests
