#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/workload.h"

namespace monojit::tools {

/// How replays of captured steps went.
struct ReplayResult {
  int count = 0;                                            ///< those that ended
  std::vector<std::pair<std::string, std::int64_t>> place;  ///< step and layer of the last launch
  double run_ms = 0;                                        ///< with the comparisons
  std::vector<kernels::Comparison> outputs;                 ///< what was compared with the reference
  std::string difference;                                   ///< the first replay that was wrong, in words
  std::uint64_t first_resident_bytes = 0;                   ///< this process's memory behind the first replays
  std::uint64_t last_resident_bytes = 0;                    ///< and behind the last

  /// How many values were compared, and how many of them are wrong.
  std::size_t values() const;
  std::size_t mismatches() const;
};

/// "400 of 9998 replays: …"
std::string progress_text(const ReplayResult& result, int times);

}  // namespace monojit::tools
