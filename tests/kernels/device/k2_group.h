#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/kimi_k3/k2/reference/compare.h"
#include "kernels/kimi_k3/k2/reference/group.h"
#include "runtime/hip/buffer.h"
#include "runtime/hip/stream.h"
#include "runtime/loaded_kernel.h"

namespace monojit::tests {

/// Eight ranks of K2, a device each, in this process. On the emulator, whose device memory is the host's: the reference
/// reads the operands where they are.
class DeviceGroup {
 public:
  /// Memory for launches of `key`: zeros, but for what tells the ranks.
  explicit DeviceGroup(const kernels::kimi_k3::K2Key& key);

  /// Of the eight ranks, seen by the host.
  const kernels::kimi_k3::GroupMemory& memory() const { return memory_; }
  void set_launch(std::int32_t epoch, std::int32_t layer) const;
  /// Sees the same memory as a launch of `key` does, which must need no more than the constructor's key.
  void set_shape(const kernels::kimi_k3::K2Key& key);
  const runtime::HipTable& hip() const { return ranks_[0].device.hip(); }

  /// Launches `key` on all ranks, whose memory must have that key's shape, and waits. Errors of the devices
  /// are thrown.
  void launch(const kernels::kimi_k3::K2Key& key) const;

 private:
  struct Rank {
    runtime::Device device;
    runtime::Stream stream;
    std::vector<runtime::DeviceBuffer> buffers;
    std::byte* peer = nullptr;
  };
  std::vector<runtime::ArgumentValue> arguments(std::size_t rank) const;

  std::vector<Rank> ranks_;
  std::vector<runtime::DeviceBuffer> peer_tables_;
  kernels::kimi_k3::GroupMemory memory_;
};

/// What a launch left that the reference does not have: a line a region and rank; empty when all is right.
std::string disagreement(const kernels::kimi_k3::GroupExpectation& expected,
                         const kernels::kimi_k3::GroupMemory& after);

}  // namespace monojit::tests
