#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/group_health.h"

namespace monojit::runtime {

/// Where the chain of who waited for whom ends: who should have put what the records miss and left no record itself,
/// and so did not wait; of several, that which is earliest in the order of the data, as who goes on with stale data
/// leaves none either. Records of earlier launches
/// don't count. Nothing when no record tells. `health`: all ranks' words, nothing for one that can't be read.
std::optional<std::string> explain_cause(std::span<const std::vector<std::uint32_t>> health,
                                         std::span<const WatchedLaunch> launches, const LaunchFacts& facts = {});

}  // namespace monojit::runtime
