#pragma once

#include <string>

#include "kernels/kimi_k3/k2/reference/compare.h"
#include "kernels/kimi_k3/k2/reference/group.h"
#include "runtime/jit.h"
#include "tools/kimi_group.h"

namespace monojit::tests {

/// Eight ranks of K2, a device each, in this process. On the emulator, whose device memory is the host's: the reference
/// reads the operands where they are.
class DeviceGroup : public tools::KimiGroup {
 public:
  /// Memory for launches of `key`: zeros, but for what tells the ranks.
  explicit DeviceGroup(const kernels::kimi_k3::K2Key& key);

  const runtime::HipTable& hip() const { return device(0).hip(); }

  /// Launches `key` on all ranks, whose memory must have that key's shape, and waits. Errors of the devices
  /// are thrown.
  void launch(const kernels::kimi_k3::K2Key& key) const;
};

/// Of all groups: builds each key once.
runtime::Jit& group_jit();

/// What a launch left that the reference does not have: a line a region and rank; empty when all is right.
std::string disagreement(const kernels::kimi_k3::GroupExpectation& expected,
                         const kernels::kimi_k3::GroupMemory& after);
/// The same by bits alone, without the wide reference: quick, and right for values that are no numbers.
std::string bit_disagreement(const kernels::kimi_k3::GroupExpectation& expected,
                             const kernels::kimi_k3::GroupMemory& after);

}  // namespace monojit::tests
