#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/common/family.h"
#include "kernels/common/peer_state.h"

namespace monojit::runtime {

/// A launch whose waits may have given up: what its records are read with.
struct WatchedLaunch {
  kernels::BuildKey key;
  std::int32_t layer = 0;  ///< its argument `layer`
};

/// What else is known of launches, for the words.
struct LaunchFacts {
  /// Of the first launch that the words may tell of: records of earlier ones were there before it. Nothing: unknown.
  std::optional<std::uint32_t> first_tag;
  bool random_memory = false;  ///< scratch and peer buffers began with words that are no tags, not with zeros
};

/// One rank's health words in words: a line for each kind of thing that was waited for, the earliest first, with how
/// many workgroups gave up on it and the first of them. Says so when they were set before the launch. Nothing when no
/// wait gave up.
std::optional<std::string> explain_rank(int rank, std::span<const std::uint32_t> health,
                                        std::span<const WatchedLaunch> launches, const LaunchFacts& facts = {});

/// Which ranks the alarm flags of rank 0 name; empty: none.
std::string explain_alarms(std::span<const std::uint32_t> alarms);

/// All ranks' health words together, nothing for a rank that can't be read: who is nearest to the cause, the above for
/// each, and which ranks left no record while others did. Nothing when no rank gave up.
std::optional<std::string> explain_group(std::span<const std::vector<std::uint32_t>> health,
                                         std::span<const std::uint32_t> alarms, std::span<const WatchedLaunch> launches,
                                         const LaunchFacts& facts = {});

}  // namespace monojit::runtime
