#include "kernels/common/wait_record.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "kernels/common/health.h"

namespace monojit::kernels {
namespace {

constexpr int kSourcesTold = 4;  // of a region

/// Whether it is one that a kernel leaves, not what was in the memory before.
bool is_record(std::span<const std::uint32_t> words, int workgroup) {
  return words[0] == 1 && words[5] == static_cast<std::uint32_t>(workgroup);
}

}  // namespace

std::string WaitedRegion::others() const {
  const int more = count - 1;
  if (more == 0) return {};
  return fmt::format("; {} other workgroup{} for pairs of {}, too", more, more == 1 ? "" : "s",
                     first.region.empty() ? "that region" : first.region);
}

std::vector<WaitedRegion> by_region(std::span<const WaitRecord> records, const SameSource& same_source) {
  std::vector<WaitedRegion> regions;
  for (const WaitRecord& record : records) {
    WaitedRegion* place = nullptr;
    int sources = 0;
    for (WaitedRegion& region : regions) {
      if (region.first.region_id != record.region_id || region.first.expected != record.expected) continue;
      place = &region;
      ++sources;
      if (!same_source || same_source(region.first, record)) break;
      if (sources < kSourcesTold) place = nullptr;
    }
    if (place == nullptr) place = &regions.emplace_back(WaitedRegion{.first = record});
    ++place->count;
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
