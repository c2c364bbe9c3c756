#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/group_health.h"

namespace monojit::runtime {

/// Who should have put the earliest thing, in the order of the data, that any rank's records miss: where the chain of
/// who waited for whom ends, as whoever puts something waits for earlier things alone. Nothing when no record tells.
/// `health`: all ranks' words, nothing for one that can't be read.
std::optional<std::string> explain_cause(std::span<const std::vector<std::uint32_t>> health,
                                         std::span<const WatchedLaunch> launches);

}  // namespace monojit::runtime
