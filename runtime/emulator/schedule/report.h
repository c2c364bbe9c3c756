// Texts about waves that faulted or wait for ever.
#pragma once

#include <span>
#include <string>

#include "runtime/emulator/execute/fault.h"
#include "runtime/emulator/schedule/grid.h"
#include "runtime/emulator/schedule/progress.h"
#include "runtime/emulator/settings.h"

namespace monojit::emulator {

[[nodiscard]] std::string describe_fault(const LaunchContext& launch, const Workgroup& group, const Wave& wave,
                                         const WaveFault& fault);
/// Who waits where and for which memory, over all launches; and which workgroups never started, and why.
[[nodiscard]] std::string describe_waiting(std::span<const Grid* const> grids, std::span<const Visit> visits,
                                           const Settings& settings, const AllocationList& memory);

/// Which of the workgroups that the settings stall a launch does not have; empty if it has all.
[[nodiscard]] std::string describe_missing_stalled(const LaunchRequest& request, const Settings& settings);

}  // namespace monojit::emulator
