#include "kernels/common/health.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/common/wait_record.h"

namespace monojit::kernels {

namespace {

std::string region_text(const WaitedRegion& waited, const DescribePair& describe) {
  const WaitRecord& record = waited.first;
  const std::string region =
      record.region.empty() ? fmt::format("unknown region {:#010x}", record.region_id) : std::string(record.region);
  const std::string what = describe ? describe(region, record.pair) : std::string();
  return fmt::format("workgroup {} waited more than {} s for pair {} of {}{}{}: expected tag {:#x}, saw {:#x}{}",
                     record.workgroup, kWaitBoundTicks / 100'000'000, record.pair, region, what.empty() ? "" : ", ",
                     what, record.expected, record.seen, waited.others());
}

}  // namespace

std::optional<std::string> explain_health(std::span<const std::uint32_t> words, int workgroups,
                                          std::span<const std::string_view> regions, const DescribePair& describe) {
  if (words[0] == 0) return std::nullopt;
  auto [records, strange] = wait_records(words, workgroups, regions);
  const auto stage = [&](const WaitRecord& record) {
    return std::ranges::find(regions, record.region) - regions.begin();
  };
  std::ranges::stable_sort(records, {}, stage);
  std::vector<std::string> lines;
  for (const WaitedRegion& waited : by_region(records)) lines.push_back(region_text(waited, describe));
  if (!strange.empty()) lines.push_back(strange);
  if (lines.empty()) return std::string(kSetBefore);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace monojit::kernels
