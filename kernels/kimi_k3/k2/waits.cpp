#include "kernels/kimi_k3/k2/waits.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "kernels/kimi_k3/k2/key.h"
#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/roles.h"

namespace monojit::kernels::kimi_k3 {
namespace {

using Indices = std::array<std::int64_t, Region::kMaxAxes>;

Indices indices_of(const Region& region, std::int64_t pair) {
  Indices indices{};
  for (int axis = region.rank - 1; axis >= 0; --axis) {
    const auto at = static_cast<std::size_t>(axis);
    indices[at] = pair % region.axes[at].extent;
    pair /= region.axes[at].extent;
  }
  return indices;
}

std::string place_text(const Region& region, const Indices& indices) {
  std::string text;
  for (int axis = 0; axis < region.rank; ++axis) {
    const auto at = static_cast<std::size_t>(axis);
    text += fmt::format("{}{} {}", axis == 0 ? "" : ", ", region.axes[at].name, indices[at]);
  }
  return text;
}

std::string workgroup_text(std::int64_t workgroup) { return fmt::format("workgroup {} of its own rank", workgroup); }

/// Who puts what the scratch hands over.
std::string scratch_source(std::string_view region, const Indices& i) {
  const std::int64_t first = i[0];
  if (region == "part" || region == "msq" || region == "xrdy") return workgroup_text(first);
  if (region == "wgt" || region == "route") return workgroup_text(first);
  if (region == "sgu") return workgroup_text(kSharedGateUp.first + i[1] * 2 / kRowsPerTask);
  if (region == "h") return workgroup_text(kSharedActivation.first + first);
  if (region == "rpart") return workgroup_text(kRouter.first + kRouterParts * first + i[1]);
  if (region == "lpart") return workgroup_text(kLatentDown.first + kLatentParts * first + i[1]);
  if (region == "lmsq" || region == "lnrdy") return workgroup_text(kLatentNorm.first + first);
  if (region == "shrdy") return workgroup_text(kSharedDownOwn.first + first % kSharedDownOwn.count);
  return "an expert's gate and up on its own rank";  // inter, isc: which workgroup depends on the routing
}

std::string peer_source(std::string_view region, const Indices& i) {
  const std::int64_t rank = region == "lat" ? i[1] / (kRankLatent / 2) : i[0];
  return fmt::format("rank {}", rank);
}

}  // namespace

std::string describe_wait(const BuildKey& key, std::string_view region, std::uint32_t pair) {
  const K2Key k2 = k2_key(key);
  const ScratchLayout s = scratch_layout(k2.tokens, k2.nblocks);
  const PeerLayout p = peer_layout(k2.tokens);
  for (const Region& known : {p.ar, p.rlog, p.lat, p.latr, p.final_}) {
    if (known.name != region) continue;
    const Indices indices = indices_of(known, pair);
    return fmt::format("{} ({}) from {}", known.meaning, place_text(known, indices), peer_source(region, indices));
  }
  for (const Region& known : {s.part, s.wgt, s.msq, s.xrdy, s.sgu, s.h, s.rpart, s.lpart, s.route, s.inter, s.isc,
                              s.lmsq, s.lnrdy, s.shrdy}) {
    if (known.name != region) continue;
    const Indices indices = indices_of(known, pair);
    return fmt::format("{} ({}) from {}", known.meaning, place_text(known, indices), scratch_source(region, indices));
  }
  return {};
}

}  // namespace monojit::kernels::kimi_k3
