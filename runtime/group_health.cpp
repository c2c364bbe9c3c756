#include "runtime/group_health.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/common/health.h"
#include "kernels/common/wait_record.h"
#include "runtime/wait_cause.h"
#include "runtime/watched_records.h"

namespace monojit::runtime {
namespace {

using kernels::WaitRecord;

/// "layer 133, <what the pair holds and who puts it there>" of the launch whose tag the record expected.
std::string launch_text(const WaitRecord& record, std::span<const WatchedLaunch> launches) {
  const WatchedLaunch* const launch = launch_of(record, launches);
  if (launch == nullptr) return "of a launch that is none of the step's";
  const auto words = health_words(launch->key);
  const std::string what =
      words->describe != nullptr ? words->describe(launch->key, record.region, record.pair) : std::string();
  if (words->layer_of_tag == nullptr) return what;
  return fmt::format("{}{}in the launch with layer {}", what, what.empty() ? "" : ", ", launch->layer);
}

std::string region_text(int rank, const kernels::WaitedRegion& waited, std::span<const WatchedLaunch> launches) {
  const WaitRecord& record = waited.first;
  return fmt::format("rank {}: {} waited more than {} s for pair {} of {}, {}: expected tag {:#x}, saw {:#x}", rank,
                     waited.who(), kernels::kWaitBoundTicks / 100'000'000, record.pair,
                     record.region.empty() ? "an unknown region" : record.region, launch_text(record, launches),
                     record.expected, record.seen);
}

}  // namespace

std::optional<std::string> explain_rank(int rank, std::span<const std::uint32_t> health,
                                        std::span<const WatchedLaunch> launches) {
  if (health.empty() || health[0] == 0) return std::nullopt;
  const auto [records, strange] = watched_records(health, launches);
  if (records.empty() && strange.empty()) {
    return fmt::format("rank {}: a wait gave up, but no workgroup left its record", rank);
  }
  std::vector<std::string> lines;
  for (const kernels::WaitedRegion& waited : kernels::by_region(records)) {
    lines.push_back(region_text(rank, waited, launches));
  }
  if (!strange.empty()) lines.push_back(fmt::format("rank {}: {}", rank, strange));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string explain_alarms(std::span<const std::uint32_t> alarms) {
  std::vector<std::size_t> raised;
  for (std::size_t rank = 0; rank < alarms.size(); ++rank) {
    if (alarms[rank] != 0) raised.push_back(rank);
  }
  if (raised.empty()) return {};
  return fmt::format("by rank 0's alarm flags, rank{} {} gave up", raised.size() == 1 ? "" : "s",
                     fmt::join(raised, ", "));
}

std::optional<std::string> explain_group(std::span<const std::vector<std::uint32_t>> health,
                                         std::span<const std::uint32_t> alarms,
                                         std::span<const WatchedLaunch> launches) {
  std::vector<std::string> lines;
  std::vector<std::size_t> silent;
  for (std::size_t rank = 0; rank < health.size(); ++rank) {
    if (auto text = explain_rank(static_cast<int>(rank), health[rank], launches)) {
      lines.push_back(*std::move(text));
    } else if (!health[rank].empty()) {
      silent.push_back(rank);
    }
  }
  std::string flags = explain_alarms(alarms);
  if (lines.empty() && flags.empty()) return std::nullopt;
  if (auto cause = explain_cause(health, launches)) lines.insert(lines.begin(), *std::move(cause));
  if (!flags.empty()) lines.push_back(std::move(flags));
  if (!silent.empty()) {
    lines.push_back(fmt::format("rank{} {} left no record: none of {} waits gave up, or {} never ran",
                                silent.size() == 1 ? "" : "s", fmt::join(silent, ", "),
                                silent.size() == 1 ? "its" : "their", silent.size() == 1 ? "it" : "they"));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace monojit::runtime
