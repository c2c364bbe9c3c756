#pragma once

#include <optional>

#include "kernels/common/family.h"

namespace monojit::kernels::kimi_k3 {

/// Points of a workgroup's timeline: the start, then the end of each stage that it takes part in.
enum class Stamp : int {
  kStart,
  kAttentionSummed,
  kSlice,
  kGate,
  kMix,
  kProjected,
  kSharedProjected,
  kScored,
  kLatentProjected,
  kRouted,
  kSharedActivated,
  kLatentQuantised,
  kTables,
  kExpertGateUp,
  kExpertDown,
  kSharedDown,
  kLatentNormed,
  kLatentUp,
  kReduced,
};
inline constexpr int kTimelinePoints = 20;
static_assert(static_cast<int>(Stamp::kReduced) < kTimelinePoints);

/// The time stamps of a build with timeline=1. LLVM-free: what the emitter's stamps mean.
std::optional<TimelineWords> k2_timeline(const BuildKey& key);

}  // namespace monojit::kernels::kimi_k3
