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

namespace {

/// Rows of a comparison that `fails`, and then every difference.
template <class Fails>
std::string text_of(const GroupExpectation& expected, const GroupMemory& after, Fails&& fails) {
  std::string text;
  for (const kernels::Comparison& row : expected.compare(after)) {
    if (!fails(row)) continue;
    text += fmt::format("{}: {} of {} mismatches, error {} of {}\n", row.name, row.mismatches, row.elements,
                        row.max_error, row.bound);
  }
  if (text.empty()) return text;
  for (const std::string& line : expected.differences(after)) text += line + "\n";
  return text;
}

}  // namespace

std::string disagreement(const GroupExpectation& expected, const GroupMemory& after) {
  return text_of(expected, after, [](const kernels::Comparison& row) { return !row.ok; });
}

std::string bit_disagreement(const GroupExpectation& expected, const GroupMemory& after) {
  if (expected.is_exactly(after)) return "";
  return text_of(expected, after, [](const kernels::Comparison& row) { return row.mismatches != 0; });
}

}  // namespace monojit::tests
