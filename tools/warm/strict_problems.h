#pragma once

#include <cstdint>
#include <vector>

#include "tools/warm/plan.h"
#include "tools/warm/warmer.h"

namespace monojit::tools {

/// Says why strict mode would not serve every job, after a warm whose cache may have `max_bytes` (0: no limit).
void say_strict_problems(const WarmPlan& plan, Warmer& warmer, std::vector<StrictProblem> problems,
                         std::uint64_t max_bytes);

}  // namespace monojit::tools
