#include "kernels/common/wait_record.h"

#include <algorithm>
#include <cstddef>

#include "kernels/common/health.h"

namespace monojit::kernels {

WaitRecords wait_records(std::span<const std::uint32_t> health, int workgroups,
                         std::span<const std::string_view> regions) {
  WaitRecords result;
  for (int workgroup = 0; workgroup < workgroups; ++workgroup) {
    const auto words = health.subspan(static_cast<std::size_t>(workgroup + 1) * kHealthRecordWords, kHealthRecordWords);
    if (words[0] == 0) continue;
    if (!is_health_record(words, workgroup)) {
      ++result.strange;
      continue;
    }
    const auto region = std::ranges::find(regions, words[1], region_id);
    result.records.push_back({.workgroup = workgroup,
                              .region = region == regions.end() ? std::string_view() : *region,
                              .pair = words[2],
                              .expected = words[3],
                              .seen = words[4]});
  }
  return result;
}

}  // namespace monojit::kernels
