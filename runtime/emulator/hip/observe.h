// What the process has been asked to watch: profiles and traces of launches.
#pragma once

#include <string>

#include "runtime/emulator/observe/profile.h"
#include "runtime/emulator/observe/trace.h"

namespace monojit::emulator {

/// Null while launches are not profiled.
[[nodiscard]] Profile* active_profile();

/// Null while launches are not traced.
[[nodiscard]] Trace* active_trace();

/// Launches as a trace file in Chrome's JSON format, which Perfetto reads.
[[nodiscard]] std::string trace_json(const std::vector<TracedLaunch>& launches);

}  // namespace monojit::emulator
