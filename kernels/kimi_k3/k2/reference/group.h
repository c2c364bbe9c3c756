#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "kernels/common/reference/tensor_view.h"
#include "kernels/kimi_k3/k2/key.h"

/// The operands of one launch on all eight ranks. A rank's tensors are the kernel's arguments without `peers` and
/// `alarm`, which are addresses, and with `peer`, its peer buffer.
namespace monojit::kernels::kimi_k3 {

using reference::RankMemory;
using reference::TensorView;

/// Views of the ranks' memory, which is somebody else's.
using GroupMemory = std::array<RankMemory, kRanks>;

struct TensorShape {
  std::string_view name;
  DType dtype = DType::kUint8;
  std::vector<std::int64_t> extents;
  bool replicated = false;  ///< the same on every rank
  bool written = false;     ///< by the kernel
};

/// One for each tensor of a rank. `bank_rows`: blocks in memory a token, at least key.nblocks.
std::vector<TensorShape> rank_shapes(const K2Key& key, int bank_rows = kMaxBlocks);

/// Host memory for a group. Pages come into being when they are touched, so that experts that no token picks cost
/// nothing unless they are filled.
class HostGroup {
 public:
  explicit HostGroup(const K2Key& key, int bank_rows = kMaxBlocks);

  GroupMemory& memory() { return memory_; }
  const GroupMemory& memory() const { return memory_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::vector<std::unique_ptr<std::byte, Free>> owned_;
  GroupMemory memory_;
};

}  // namespace monojit::kernels::kimi_k3
