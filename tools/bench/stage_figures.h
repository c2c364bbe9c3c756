#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/profiled_code.h"

namespace monojit::tools {

/// One stage of a kernel: what its code is, did and moved in the profiled launches.
struct StageFigures {
  std::string name;
  std::uint32_t instructions = 0;  ///< static
  std::uint64_t executed = 0;      ///< wave-instructions, loops of waits left out
  std::uint64_t retries = 0;       ///< of those loops
  std::uint64_t vector = 0;
  std::uint64_t scalar = 0;  ///< with scalar loads and branches
  std::uint64_t lds = 0;
  std::uint64_t memory_loads = 0;  ///< vector memory
  std::uint64_t mfma = 0;
  /// By Traffic; as if all lanes of a wave were active, loops of waits left out.
  std::array<std::uint64_t, kTrafficKinds> bytes{};
  /// Bytes of loads that a wave has in flight at most when it first waits for one of them.
  std::uint64_t in_flight = 0;

  std::uint64_t moved(Traffic traffic) const { return bytes[static_cast<std::size_t>(traffic)]; }
};

/// Sums of a kernel's code by stage, in the order of `stages`, the emitter's files that are stages, without ending;
/// then one for code in front of all of them. Code of other files counts for the stage that led to it, but behind a
/// barrier or the main function's own code (program.cpp), and where several stages lead, for the one that comes next.
std::vector<StageFigures> stage_figures(std::span<const CodeLine> code, std::span<const std::string_view> stages);

/// All stages together.
StageFigures sum_of(std::span<const StageFigures> stages);

}  // namespace monojit::tools
