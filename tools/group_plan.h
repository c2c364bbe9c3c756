#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kimi_k3/k2/key.h"
#include "runtime/group_health.h"

namespace monojit::tools {

/// One launch of a run on a group.
struct PlannedLaunch {
  kernels::kimi_k3::K2Key key;
  kernels::BuildKey build;
  int step = 0;           ///< forward passes behind the first launch's
  std::int32_t slot = 0;  ///< argument `layer`
};

/// Step and layer of a launch, by its arguments.
std::vector<std::pair<std::string, std::int64_t>> place_of(std::int32_t epoch, std::int32_t slot);

/// What this program knows of a run's launches, the first of which is in step `epoch`.
runtime::LaunchFacts facts_from(std::int32_t epoch);

/// `layers` layers as the model has them, from the one with argument `slot` on, else from the first one that has the
/// key's blocks and reset; behind the last layer the next step's first one. Throws UserError when no layer of the model
/// is like the key, or that of `slot` is not.
std::vector<PlannedLaunch> plan_layers(const kernels::kimi_k3::K2Key& key, int layers,
                                       std::optional<std::int32_t> slot = std::nullopt);

/// The launch in which a rank is to stall.
struct PlannedFault {
  kernels::BuildKey key;  ///< tells rank, epoch, layer and for how long
  int time = 1;           ///< of the plan's launches, which are made several times
};

/// The fault of `--fault`: "rank=3" and, where given, epoch, layer (the argument), ticks of 10 ns and time; else a
/// layer that has the key's blocks, 12 s, which every wait gives up on, the first time, and the first epoch that this
/// can be, `layers` (0: the key alone) being launched `repeat` times. Throws UserError for a text that is none, and for
/// a layer that has not the key's blocks and reset where the key alone is launched.
PlannedFault planned_fault(const kernels::BuildKey& key, const std::string& fault, int layers, int repeat);

/// The epoch of the first launch with which the launch that is to fail is one of `plan`, the `time`th time it is made.
/// Throws UserError when none can be it.
std::int32_t epoch_of_fault(const std::vector<PlannedLaunch>& plan, int time);

}  // namespace monojit::tools
