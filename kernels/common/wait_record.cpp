#include "kernels/common/wait_record.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "kernels/common/health.h"

namespace monojit::kernels {
namespace {

/// Whether it is one that a kernel leaves, not what was in the memory before.
bool is_record(std::span<const std::uint32_t> words, int workgroup) {
  return words[0] == 1 && words[5] == static_cast<std::uint32_t>(workgroup);
}

}  // namespace

std::string WaitedRegion::who() const {
  const int others = count - 1;
  if (others == 0) return fmt::format("workgroup {}", first.workgroup);
  return fmt::format("workgroup {} (and {} other{})", first.workgroup, others, others == 1 ? "" : "s");
}

std::vector<WaitedRegion> by_region(std::span<const WaitRecord> records) {
  std::vector<WaitedRegion> regions;
  for (const WaitRecord& record : records) {
    auto found = std::ranges::find_if(
        regions, [&](const WaitedRegion& region) { return region.first.region_id == record.region_id; });
    if (found == regions.end()) found = regions.insert(regions.end(), {.first = record});
    ++found->count;
  }
  return regions;
}

WaitRecords wait_records(std::span<const std::uint32_t> health, int workgroups,
                         std::span<const std::string_view> regions) {
  WaitRecords result;
  int strange = 0;
  for (int workgroup = 0; workgroup < workgroups; ++workgroup) {
    const auto words = health.subspan(static_cast<std::size_t>(workgroup + 1) * kHealthRecordWords, kHealthRecordWords);
    if (words[0] == 0) continue;
    if (!is_record(words, workgroup)) {
      ++strange;
      continue;
    }
    const auto region = std::ranges::find(regions, words[1], region_id);
    result.records.push_back({.workgroup = workgroup,
                              .region_id = words[1],
                              .region = region == regions.end() ? std::string_view() : *region,
                              .pair = words[2],
                              .expected = words[3],
                              .seen = words[4]});
  }
  if (strange > 0) {
    result.strange =
        fmt::format("{} of {} health records hold what no kernel leaves there (word 0 is {:#x}): were they zeroed?",
                    strange, workgroups, health[0]);
  }
  return result;
}

}  // namespace monojit::kernels
