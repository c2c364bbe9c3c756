#include "runtime/wait_cause.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include <fmt/format.h>

#include "runtime/watched_records.h"

namespace monojit::runtime {
namespace {

using kernels::WaitRecord;

/// A pair that a rank waited for in vain, and whose it was to put.
struct Missing {
  WaitRecord record;
  std::size_t stage = 0;
  std::size_t rank = 0;
  std::optional<int> workgroup;

  auto order() const { return std::tuple(record.expected, stage, rank, workgroup, record.pair); }
};

std::optional<Missing> missing_of(const WaitRecord& record, std::size_t rank, std::span<const WatchedLaunch> launches) {
  const WatchedLaunch* const launch = launch_of(record, launches);
  if (launch == nullptr) return std::nullopt;
  const auto words = health_words(launch->key);
  if (words->source == nullptr) return std::nullopt;
  const auto source = words->source(launch->key, record.region, record.pair);
  if (!source) return std::nullopt;
  return Missing{.record = record,
                 .stage = stage_of(record, launches),
                 .rank = source->rank ? static_cast<std::size_t>(*source->rank) : rank,
                 .workgroup = source->workgroup};
}

/// What the words of the one who should have put it say of itself.
std::string own_account(const Missing& missing, std::span<const std::vector<std::uint32_t>> health,
                        std::span<const WatchedLaunch> launches) {
  if (missing.rank >= health.size() || health[missing.rank].empty()) return ", and its words can't be read";
  if (health[missing.rank][0] == 0) return fmt::format(", and rank {} left no record at all", missing.rank);
  const auto records = watched_records(health[missing.rank], launches).records;
  const bool told = std::ranges::find(records, missing.workgroup, &WaitRecord::workgroup) != records.end();
  return told || !missing.workgroup ? "" : ", and left no record itself";
}

}  // namespace

std::optional<std::string> explain_cause(std::span<const std::vector<std::uint32_t>> health,
                                         std::span<const WatchedLaunch> launches) {
  std::optional<Missing> earliest;
  for (std::size_t rank = 0; rank < health.size(); ++rank) {
    if (health[rank].empty() || health[rank][0] == 0) continue;
    for (const WaitRecord& record : watched_records(health[rank], launches).records) {
      const auto missing = missing_of(record, rank, launches);
      if (missing && (!earliest || missing->order() < earliest->order())) earliest = missing;
    }
  }
  if (!earliest) return std::nullopt;
  const std::string who = earliest->workgroup
                              ? fmt::format("workgroup {} of rank {}", *earliest->workgroup, earliest->rank)
                              : fmt::format("a workgroup of rank {}", earliest->rank);
  return fmt::format("nearest to the cause: {} did not put pair {} of {}, the earliest that any rank missed{}", who,
                     earliest->record.pair, earliest->record.region, own_account(*earliest, health, launches));
}

}  // namespace monojit::runtime
