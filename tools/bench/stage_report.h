#pragma once

#include <span>
#include <string>

#include "tools/bench/builds.h"
#include "tools/report.h"

namespace monojit::tools {

/// A table of a run's stages, and the floor beside what was streamed.
std::string stages_text(const RunFigures& run);
/// With the field names of docs/cli.md.
Json stages_json(std::span<const StageFigures> stages);

}  // namespace monojit::tools
