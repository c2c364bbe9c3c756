#include "tests/kernels/device/k2_group.h"

#include <memory>
#include <vector>

#include <fmt/format.h>

namespace monojit::tests {

using namespace kernels::kimi_k3;

runtime::Jit& group_jit() {
  static runtime::Jit jit({});  // no folder: what is tested is what these sources emit
  return jit;
}

DeviceGroup::DeviceGroup(const K2Key& key) : KimiGroup(runtime::HipTable::open(runtime::Provider::kEmulator), key) {}

void DeviceGroup::launch(const K2Key& key) const {
  std::vector<std::shared_ptr<const runtime::LoadedKernel>> kernels;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    kernels.push_back(group_jit().prepare(tools::build_key(key), device(rank)));
  }
  KimiGroup::launch(kernels);
}

std::string disagreement(const GroupExpectation& expected, const GroupMemory& after) {
  std::string text;
  for (const kernels::Comparison& row : expected.compare(after)) {
    if (!row.ok) {
      text += fmt::format("{}: {} of {} mismatches, error {} of {}\n", row.name, row.mismatches, row.elements,
                          row.max_error, row.bound);
    }
  }
  if (text.empty()) return text;
  for (const std::string& line : expected.differences(after)) text += line + "\n";
  return text;
}

}  // namespace monojit::tests
