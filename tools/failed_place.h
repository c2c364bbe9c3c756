#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/group_health.h"

namespace monojit::tools {

/// Step and layer of the earliest launch in which a wait gave up, by the tags in all ranks' health words; nothing when
/// no record tells. `launches`: of a step of K2. `epoch`: of the latest step.
std::optional<std::vector<std::pair<std::string, std::int64_t>>> failed_place(
    std::span<const std::vector<std::uint32_t>> health, std::span<const runtime::WatchedLaunch> launches,
    std::int32_t epoch);

}  // namespace monojit::tools
