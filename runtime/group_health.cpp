#include "runtime/group_health.h"

#include <algorithm>
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

/// What the tag that was found tells.
std::string seen_text(const WaitRecord& record, std::span<const WatchedLaunch> launches, const LaunchFacts& facts) {
  const WatchedLaunch* const launch = launch_of(record, launches);
  const auto words = launch == nullptr ? std::nullopt : health_words(launch->key);
  if (!words || words->launch_of_tag == nullptr) return {};
  if (record.seen == 0) return ", where nobody has written since it was zeroed";
  const auto tagged = words->launch_of_tag(record.seen);
  if (!tagged) {
    return facts.random_memory ? ", no tag: nobody has written there since `monojit run` filled the memory"
                               : ", no tag: something else writes to that memory";
  }
  return fmt::format(", the tag of {} launch (epoch {}, layer {})",
                     tag_before(record.seen, record.expected, *words) ? "an earlier" : "a later", tagged->epoch,
                     tagged->layer);
}

/// "layer 133, <what the pair holds and who puts it there>" of the launch whose tag the record expected.
std::string launch_text(const WaitRecord& record, std::span<const WatchedLaunch> launches, const LaunchFacts& facts) {
  const WatchedLaunch* const launch = launch_of(record, launches);
  if (launch == nullptr) return "of a launch that is none of the step's";
  const auto words = health_words(launch->key);
  std::string what =
      words->describe != nullptr ? words->describe(launch->key, record.region, record.pair) : std::string();
  if (words->layer_of_tag == nullptr) return what;
  return fmt::format("{}{}in {} with layer {}", what, what.empty() ? "" : ", ",
                     left_before(record, launches, facts) ? "an earlier launch" : "the launch", launch->layer);
}

std::string region_text(int rank, const kernels::WaitedRegion& waited, std::span<const WatchedLaunch> launches,
                        const LaunchFacts& facts) {
  const WaitRecord& record = waited.first;
  return fmt::format(
      "rank {}: workgroup {} waited more than {} s for pair {} of {}, {}: expected tag {:#x}, saw {:#x}{}{}", rank,
      record.workgroup, kernels::kWaitBoundTicks / 100'000'000, record.pair,
      record.region.empty() ? "an unknown region" : record.region, launch_text(record, launches, facts),
      record.expected, record.seen, seen_text(record, launches, facts), waited.others());
}

}  // namespace

std::optional<std::string> explain_rank(int rank, std::span<const std::uint32_t> health,
                                        std::span<const WatchedLaunch> launches, const LaunchFacts& facts) {
  if (health.empty() || health[0] == 0) return std::nullopt;
  const auto [records, strange] = watched_records(health, launches);
  std::vector<std::string> lines;
  const auto before = [&](const WaitRecord& record) { return left_before(record, launches, facts); };
  if (std::ranges::all_of(records, before) && (!records.empty() || strange.empty())) {
    lines.push_back(fmt::format("rank {}: {}", rank, kernels::kSetBefore));
  }
  const auto same_source = [&](const WaitRecord& one, const WaitRecord& other) {
    const auto from = source_of(one, launches);
    const auto also_from = source_of(other, launches);
    if (!from || !also_from) return from.has_value() == also_from.has_value();
    return from->rank == also_from->rank && from->workgroup == also_from->workgroup;
  };
  for (const kernels::WaitedRegion& waited : kernels::by_region(records, same_source)) {
    lines.push_back(region_text(rank, waited, launches, facts));
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
                                         std::span<const std::uint32_t> alarms, std::span<const WatchedLaunch> launches,
                                         const LaunchFacts& facts) {
  std::vector<std::string> lines;
  std::vector<std::size_t> silent;
  for (std::size_t rank = 0; rank < health.size(); ++rank) {
    if (auto text = explain_rank(static_cast<int>(rank), health[rank], launches, facts)) {
      lines.push_back(*std::move(text));
    } else if (!health[rank].empty()) {
      silent.push_back(rank);
    }
  }
  std::string flags = explain_alarms(alarms);
  if (lines.empty() && flags.empty()) return std::nullopt;
  if (auto cause = explain_cause(health, launches, facts)) lines.insert(lines.begin(), *std::move(cause));
  if (!flags.empty()) lines.push_back(std::move(flags));
  if (!silent.empty()) {
    lines.push_back(fmt::format("rank{} {} left no record: none of {} waits gave up, or {} never ran",
                                silent.size() == 1 ? "" : "s", fmt::join(silent, ", "),
                                silent.size() == 1 ? "its" : "their", silent.size() == 1 ? "it" : "they"));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace monojit::runtime
