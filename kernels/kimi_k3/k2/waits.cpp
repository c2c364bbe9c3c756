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

constexpr std::uint32_t kSlotsOfStep = 256;
constexpr std::int32_t kBackSlots = back_slot(0);
constexpr std::uint32_t kEndOfTags = std::uint32_t{1} << kTagBits;

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

/// Workgroup of a rank's columns of the output, by groups of 16: up has the rank's own, shared down the others.
int workgroup_of_columns(int group, int rank) {
  const int task = (group - rank * kUpTasks + kOutputTasks) % kOutputTasks;
  if (task < kUpTasks) return kUp.first + task;
  return kSharedDownRest.first + (task - kUpTasks) % kSharedDownRest.count;
}

std::optional<int> scratch_workgroup(std::string_view region, const Indices& i) {
  const int first = static_cast<int>(i[0]);
  const int second = static_cast<int>(i[1]);
  if (region == "sgu") return kSharedGateUp.first + second * 2 / kRowsPerTask;
  if (region == "h") return kSharedActivation.first + first;
  if (region == "rpart") return kRouter.first + kRouterParts * first + second;
  if (region == "lpart") return kLatentDown.first + kLatentParts * first + second;
  if (region == "lmsq" || region == "lnrdy") return kLatentNorm.first + first;
  if (region == "shrdy") return kSharedDownOwn.first + first % kSharedDownOwn.count;
  if (region == "inter" || region == "isc") return std::nullopt;  // of the experts that were picked
  return first;                                                   // slices and tokens
}

WaitSource peer_source(std::string_view region, const Indices& i) {
  if (region == "lat") {
    const int word = static_cast<int>(i[1]);
    const int task = word % (kRankLatent / 2) * 2 / kRowsPerTask;
    return {.rank = word / (kRankLatent / 2), .workgroup = kLatentDown.first + kLatentParts * task};
  }
  const int rank = static_cast<int>(i[0]);
  const int last = static_cast<int>(i[2]);
  const int group = last * 2 / kRowsPerTask;
  if (region == "rlog") {
    return {.rank = rank, .workgroup = kRouter.first + kRouterParts * (last / kRowsPerTask)};
  }
  if (region == "ar") return {.rank = rank, .workgroup = kOutputProjection.first + group % kOutputProjection.count};
  if (region == "latr") return {.rank = rank, .workgroup = kDown.first + group};
  return {.rank = rank, .workgroup = workgroup_of_columns(group, rank)};
}

/// A pair of a region, and who puts it there.
struct Pair {
  Region region;
  Indices indices;
  WaitSource source;
};

std::optional<Pair> pair_of(const BuildKey& key, std::string_view name, std::uint32_t pair) {
  const K2Key k2 = k2_key(key);
  const ScratchLayout s = scratch_layout(k2.tokens, k2.nblocks);
  const PeerLayout p = peer_layout(k2.tokens);
  const auto found = [&](const Region& region) {
    return region.name == name && pair < static_cast<std::uint64_t>(region.count());
  };
  for (const Region& region : {p.ar, p.rlog, p.lat, p.latr, p.final_}) {
    if (!found(region)) continue;
    const Indices indices = indices_of(region, pair);
    return Pair{region, indices, peer_source(name, indices)};
  }
  for (const Region& region : {s.part, s.wgt, s.msq, s.xrdy, s.sgu, s.h, s.rpart, s.lpart, s.route, s.inter, s.isc,
                               s.lmsq, s.lnrdy, s.shrdy}) {
    if (!found(region)) continue;
    const Indices indices = indices_of(region, pair);
    return Pair{region, indices, {.rank = std::nullopt, .workgroup = scratch_workgroup(name, indices)}};
  }
  return std::nullopt;
}

std::string source_text(const WaitSource& source) {
  if (!source.workgroup) return "an expert's gate and up on its own rank";
  if (!source.rank) return fmt::format("workgroup {} of its own rank", *source.workgroup);
  return fmt::format("rank {}, workgroup {}", *source.rank, *source.workgroup);
}

}  // namespace

std::string describe_wait(const BuildKey& key, std::string_view region, std::uint32_t pair) {
  const std::optional<Pair> known = pair_of(key, region, pair);
  if (!known) return {};
  return fmt::format("{} ({}) from {}", known->region.meaning, place_text(known->region, known->indices),
                     source_text(known->source));
}

std::optional<TaggedLaunch> launch_of_tag(std::uint32_t tag) {
  if (tag == 0 || tag > kEndOfTags) return std::nullopt;
  const std::int32_t slot = slot_of_tag(tag);
  if (slot % kBackSlots > kLastLayer) return std::nullopt;
  return TaggedLaunch{.epoch = static_cast<std::int32_t>((tag - 1) / kSlotsOfStep), .layer = slot};
}

std::uint32_t place_of_tag(std::uint32_t tag) {
  const auto slot = static_cast<std::uint32_t>(slot_of_tag(tag));
  return (tag - 1) / kSlotsOfStep * kSlotsOfStep + slot % kBackSlots * 2 + slot / kBackSlots;
}

std::optional<WaitSource> wait_source(const BuildKey& key, std::string_view region, std::uint32_t pair) {
  const std::optional<Pair> known = pair_of(key, region, pair);
  return known ? std::optional(known->source) : std::nullopt;
}

}  // namespace monojit::kernels::kimi_k3
