#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/common/wait_record.h"
#include "runtime/group_health.h"

namespace monojit::runtime {

/// Where a kernel's bounded waits leave their records; nothing when it has none.
std::optional<kernels::HealthWords> health_words(const kernels::BuildKey& key);

/// The records in one rank's health words, in the order of the data that they miss: of the earliest launch, and there
/// of the earliest region, first.
kernels::WaitRecords watched_records(std::span<const std::uint32_t> health, std::span<const WatchedLaunch> launches);

/// The launch whose tag a record expected; null: it is none of them.
const WatchedLaunch* launch_of(const kernels::WaitRecord& record, std::span<const WatchedLaunch> launches);

/// Whether a tag's launch comes before another's, also where tags begin anew between them.
bool tag_before(std::uint32_t tag, std::uint32_t other, const kernels::HealthWords& words);

/// Where the launch that a record waited in stands among others: orders tags as launches follow each other, also where
/// they begin anew. `near`: the tag of any of these.
std::uint32_t launch_order(const kernels::WaitRecord& record, std::uint32_t near,
                           std::span<const WatchedLaunch> launches);

/// Whether a record is one of an earlier launch than those that the words may tell of.
bool left_before(const kernels::WaitRecord& record, std::span<const WatchedLaunch> launches, const LaunchFacts& facts);

/// Who was to put the pair that a record misses; nothing where nobody can tell.
std::optional<kernels::WaitSource> source_of(const kernels::WaitRecord& record,
                                             std::span<const WatchedLaunch> launches);

/// Where a record's region stands in the order of the data; behind all others where nobody knows it.
std::size_t stage_of(const kernels::WaitRecord& record, std::span<const WatchedLaunch> launches);

}  // namespace monojit::runtime
