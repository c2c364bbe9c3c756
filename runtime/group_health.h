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

/// One rank's health words in words: a line for each kind of thing that was waited for, the earliest first, with how
/// many workgroups gave up on it and the first of them. Nothing when none did.
std::optional<std::string> explain_rank(int rank, std::span<const std::uint32_t> health,
                                        std::span<const WatchedLaunch> launches);

/// Which ranks the alarm flags of rank 0 name; empty: none.
std::string explain_alarms(std::span<const std::uint32_t> alarms);

/// All ranks' health words together, nothing for a rank that can't be read: who is nearest to the cause, the above for
/// each, and which ranks left no record while others did. Nothing when no rank gave up.
std::optional<std::string> explain_group(std::span<const std::vector<std::uint32_t>> health,
                                         std::span<const std::uint32_t> alarms,
                                         std::span<const WatchedLaunch> launches);

}  // namespace monojit::runtime
