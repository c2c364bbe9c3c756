#include "kernels/kimi_k3/k2/timeline.h"

#include <string>

#include "kernels/kimi_k3/k2/key.h"
#include "kernels/kimi_k3/k2/roles.h"

namespace monojit::kernels::kimi_k3 {
namespace {

constexpr std::int64_t kTicksPerSecond = 100'000'000;  // of s_memrealtime

/// What ends with each point.
constexpr std::string_view kStages[kTimelinePoints] = {
    "",
    "sum of attention over ranks",
    "AttnRes slice",
    "AttnRes gate",
    "AttnRes mix, norm",
    "output projection",
    "shared gate and up",
    "router",
    "latent down",
    "routing",
    "shared activation",
    "latent to MXFP4",
    "routing tables",
    "experts' gate and up",
    "experts' down",
    "shared down",
    "latent norm",
    "latent up",
    "final sum",
};

std::string role(const BuildKey& build_key, int workgroup) {
  const K2Key key = k2_key(build_key);
  std::string text;
  const auto add = [&](const WorkgroupRange& range, const char* name) {
    if (range.contains(workgroup)) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  add(kResidual, "AttnRes");
  add(kOutputProjection, "projection");
  add({0, key.tokens}, "routing");
  add({kSharedActivation.first, key.tokens}, "shared activation");
  add(kSharedGateUp, "shared gate and up");
  add(kRouter, "router");
  add(kLatentDown, "latent down");
  add(kLatentNorm, "latent norm");
  add(kUp, "up");
  if (key.reduce) add(kFinalReduce, "final sum");
  return text;
}

std::string_view stage(const BuildKey& /*key*/, int /*workgroup*/, int /*from*/, int to) {
  return kStages[static_cast<std::size_t>(to)];
}

}  // namespace

std::optional<TimelineWords> k2_timeline(const BuildKey& key) {
  if (!k2_key(key).timeline) return std::nullopt;
  return TimelineWords{
      .argument = "tl", .points = kTimelinePoints, .ticks_per_second = kTicksPerSecond, .role = role, .stage = stage};
}

}  // namespace monojit::kernels::kimi_k3
