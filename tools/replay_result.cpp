#include "tools/replay_result.h"

#include <fmt/format.h>

namespace monojit::tools {
namespace {

std::size_t sum(const std::vector<kernels::Comparison>& outputs, std::size_t kernels::Comparison::* count) {
  std::size_t total = 0;
  for (const kernels::Comparison& output : outputs) total += output.*count;
  return total;
}

}  // namespace

std::size_t ReplayResult::values() const { return sum(outputs, &kernels::Comparison::elements); }
std::size_t ReplayResult::mismatches() const { return sum(outputs, &kernels::Comparison::mismatches); }

std::string progress_text(const ReplayResult& result, int times) {
  constexpr double kMega = 1e6;
  constexpr double kMsPerSecond = 1000;
  const auto verdict = [&] {
    if (result.values() == 0) return std::string("not compared");
    if (result.mismatches() == 0) return fmt::format("all {} values equal the reference", result.values());
    return fmt::format("{} of {} values are wrong", result.mismatches(), result.values());
  };
  return fmt::format("{} of {} replays: {}; {:.3f} s each; memory {:.0f} MB, {:.0f} behind the first", result.count,
                     times, verdict(), result.run_ms / kMsPerSecond / result.count,
                     static_cast<double>(result.last_resident_bytes) / kMega,
                     static_cast<double>(result.first_resident_bytes) / kMega);
}

}  // namespace monojit::tools
