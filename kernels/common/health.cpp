#include "kernels/common/health.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace monojit::kernels {

namespace {

std::string region_name(std::uint32_t id, std::span<const std::string_view> regions) {
  const auto found = std::ranges::find(regions, id, region_id);
  return found == regions.end() ? fmt::format("unknown region {:#010x}", id) : std::string(*found);
}

std::string record_text(std::span<const std::uint32_t> record, std::span<const std::string_view> regions,
                        const DescribePair& describe) {
  const std::string region = region_name(record[1], regions);
  const std::string what = describe ? describe(region, record[2]) : std::string();
  return fmt::format("workgroup {} waited more than {} s for pair {} of {}{}{}: expected tag {:#x}, saw {:#x}",
                     record[5], kWaitBoundTicks / 100'000'000, record[2], region, what.empty() ? "" : ", ", what,
                     record[3], record[4]);
}

}  // namespace

std::string strange_records_text(int strange, int workgroups, std::uint32_t first_word) {
  return fmt::format("{} of {} health records hold what no kernel leaves there (word 0 is {:#x}): were they zeroed?",
                     strange, workgroups, first_word);
}

std::optional<std::string> explain_health(std::span<const std::uint32_t> words, int workgroups,
                                          std::span<const std::string_view> regions, const DescribePair& describe) {
  if (words[0] == 0) return std::nullopt;
  std::string text;
  int strange = 0;
  for (int workgroup = 0; workgroup < workgroups; ++workgroup) {
    const auto record = words.subspan(static_cast<std::size_t>(workgroup + 1) * kHealthRecordWords, kHealthRecordWords);
    if (record[0] == 0) continue;
    if (!is_health_record(record, workgroup)) {
      ++strange;
      continue;
    }
    text += text.empty() ? "" : "\n";
    text += record_text(record, regions, describe);
  }
  if (strange > 0) {
    text += text.empty() ? "" : "\n";
    text += strange_records_text(strange, workgroups, words[0]);
  }
  return text.empty() ? "a wait gave up, but no workgroup left its record" : text;
}

}  // namespace monojit::kernels
