#pragma once

#include <string>
#include <vector>

#include "kernels/common/family.h"
#include "tests/kernels/device/mutation.h"

namespace monojit::tests {

/// Where one workgroup, wave or rank hands over to others, or takes over from them.
struct HandOff {
  std::string place;  ///< its file and line, and which of the hand-offs of that kind and file it is
  Mutation without;   ///< the kernel that lacks it; without a name
};

/// All hand-offs of a build of K2 as its IR has them: waits for pairs, the scopes of pairs and plain rows, stores to
/// other ranks, waits in front of flags, barriers. Nothing lists them by hand, so none can be forgotten.
std::vector<HandOff> hand_offs(const kernels::BuildKey& key);

}  // namespace monojit::tests
