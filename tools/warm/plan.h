#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/family.h"
#include "tools/warm/job_file.h"

namespace monojit::tools {

/// One kernel for one chip.
struct WarmJob {
  kernels::BuildKey key;
  std::string arch;
};

/// Part `index` of `count` of a plan, counted from 0.
struct Shard {
  std::size_t index = 0;
  std::size_t count = 1;
};

/// "2/8". Throws UserError when it is none.
Shard parse_shard(const std::string& text);

struct WarmPlan {
  std::vector<WarmJob> jobs;         ///< each once
  std::vector<std::string> remarks;  ///< what was left out, a line each
};

/// All jobs that the wishes name: every key of a pattern or model for each of its archs (those of `archs` where a wish
/// has none). Combinations of a pattern that can't be built for an arch are left out, and counted in the remarks; a
/// pattern of which nothing is left, or a single key that can't be built, is a UserError.
WarmPlan make_plan(const std::vector<WarmWish>& wishes, const std::vector<std::string>& archs);

/// Every count-th job, from job `index` on: shards are as good as equal, and together they are the plan.
void keep_shard(WarmPlan& plan, const Shard& shard);

}  // namespace monojit::tools
