#include "kernels/common/health.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/common/wait_record.h"

namespace monojit::kernels {

namespace {

std::string record_text(const WaitRecord& record, const DescribePair& describe) {
  const std::string region =
      record.region.empty() ? fmt::format("unknown region {:#010x}", record.region_id) : std::string(record.region);
  const std::string what = describe ? describe(region, record.pair) : std::string();
  return fmt::format("workgroup {} waited more than {} s for pair {} of {}{}{}: expected tag {:#x}, saw {:#x}",
                     record.workgroup, kWaitBoundTicks / 100'000'000, record.pair, region, what.empty() ? "" : ", ",
                     what, record.expected, record.seen);
}

}  // namespace

std::optional<std::string> explain_health(std::span<const std::uint32_t> words, int workgroups,
                                          std::span<const std::string_view> regions, const DescribePair& describe) {
  if (words[0] == 0) return std::nullopt;
  const auto [records, strange] = wait_records(words, workgroups, regions);
  std::vector<std::string> lines;
  for (const WaitRecord& record : records) lines.push_back(record_text(record, describe));
  if (!strange.empty()) lines.push_back(strange);
  if (lines.empty()) return std::string(kSetBefore);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace monojit::kernels
