#include "runtime/wait_cause.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/watched_records.h"

namespace monojit::runtime {
namespace {

using kernels::WaitRecord;
using Health = std::span<const std::vector<std::uint32_t>>;

constexpr std::size_t kNamed = 4;  // of the sources that come into question

/// Who should have put a pair.
struct Source {
  std::size_t rank = 0;
  std::optional<int> workgroup;

  auto operator<=>(const Source&) const = default;
};

/// A pair that a rank waited for in vain.
struct Missing {
  WaitRecord record;
  std::uint32_t launch = 0;  ///< its place in the order of the launches
  std::size_t stage = 0;
  Source source;
  bool silent = false;  ///< whether the source left no record

  auto when() const { return std::pair(launch, stage); }
};

std::vector<std::vector<WaitRecord>> all_records(Health health, std::span<const WatchedLaunch> launches,
                                                 const LaunchFacts& facts) {
  std::vector<std::vector<WaitRecord>> records(health.size());
  for (std::size_t rank = 0; rank < health.size(); ++rank) {
    if (health[rank].empty() || health[rank][0] == 0) continue;
    records[rank] = watched_records(health[rank], launches).records;
    std::erase_if(records[rank], [&](const WaitRecord& record) { return left_before(record, launches, facts); });
  }
  return records;
}

bool is_silent(const Source& source, std::span<const std::vector<WaitRecord>> records) {
  if (source.rank >= records.size() || !source.workgroup) return true;
  return std::ranges::find(records[source.rank], *source.workgroup, &WaitRecord::workgroup) ==
         records[source.rank].end();
}

std::vector<Missing> all_missing(Health health, std::span<const WatchedLaunch> launches, const LaunchFacts& facts) {
  const auto records = all_records(health, launches, facts);
  std::optional<std::uint32_t> any_tag;
  std::vector<Missing> missing;
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    for (const WaitRecord& record : records[rank]) {
      const auto known = source_of(record, launches);
      // A pair that came with the very look that was the last tells nothing.
      if (!known || record.seen == record.expected) continue;
      const Source source{.rank = known->rank ? static_cast<std::size_t>(*known->rank) : rank,
                          .workgroup = known->workgroup};
      if (!any_tag) any_tag = record.expected;
      missing.push_back({.record = record,
                         .launch = launch_order(record, *any_tag, launches),
                         .stage = stage_of(record, launches),
                         .source = source,
                         .silent = is_silent(source, records)});
    }
  }
  return missing;
}

/// What the words of the one who should have put it say of itself.
std::string own_account(const Source& source, Health health) {
  if (source.rank >= health.size() || health[source.rank].empty()) return ", and its words can't be read";
  if (health[source.rank][0] == 0) return fmt::format(", and rank {} left no record at all", source.rank);
  return source.workgroup ? ", and left no record itself" : "";
}

std::string source_text(const Source& source) {
  if (!source.workgroup) return fmt::format("a workgroup of rank {}", source.rank);
  return fmt::format("workgroup {} of rank {}", *source.workgroup, source.rank);
}

/// "; nor did workgroup 18 of rank 3, 5 more put theirs": who else came into question; empty: nobody.
std::string others_text(std::vector<Source> sources) {
  const Source first = sources.front();
  std::ranges::sort(sources);
  sources.erase(std::ranges::unique(sources).begin(), sources.end());
  std::erase(sources, first);
  if (sources.empty()) return {};
  std::vector<std::string> others;
  for (const Source& source : std::span(sources).first(std::min(sources.size(), kNamed))) {
    others.push_back(source_text(source));
  }
  if (sources.size() > kNamed) others.push_back(fmt::format("{} more", sources.size() - kNamed));
  return fmt::format("; nor did {} put theirs", fmt::join(others, ", "));
}

}  // namespace

std::optional<std::string> explain_cause(Health health, std::span<const WatchedLaunch> launches,
                                         const LaunchFacts& facts) {
  std::vector<Missing> missing = all_missing(health, launches, facts);
  if (missing.empty()) return std::nullopt;
  const bool told = std::ranges::any_of(missing, &Missing::silent);
  if (told) std::erase_if(missing, [](const Missing& one) { return !one.silent; });
  const Missing earliest = *std::ranges::min_element(missing, {}, &Missing::when);
  std::erase_if(missing, [&](const Missing& one) { return one.when() != earliest.when(); });
  std::vector<Source> sources;
  for (const Missing& one : missing) sources.push_back(one.source);
  return fmt::format("nearest to the cause: {} did not put pair {} of {}{}{}", source_text(earliest.source),
                     earliest.record.pair, earliest.record.region,
                     told ? own_account(earliest.source, health) : ", but waited itself, like all that are waited for",
                     others_text(std::move(sources)));
}

}  // namespace monojit::runtime
