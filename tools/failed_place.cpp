#include "tools/failed_place.h"

#include <algorithm>

#include "kernels/kimi_k3/model.h"
#include "runtime/watched_records.h"
#include "tools/group_plan.h"

namespace monojit::tools {
namespace {

using kernels::kimi_k3::launch_tag;

constexpr std::uint32_t kSlots = 256;          // of a step: what the next step's tags are larger by
constexpr std::uint32_t kEpochs = 0x40'0000U;  // that tags tell apart

/// A launch by how many steps behind it the latest one is.
struct Launch {
  std::uint32_t behind = 0;
  std::int32_t slot = 0;
};

bool is_earlier(const Launch& a, const Launch& b) {
  return a.behind != b.behind ? a.behind > b.behind : a.slot < b.slot;
}

}  // namespace

std::optional<std::vector<std::pair<std::string, std::int64_t>>> failed_place(
    std::span<const std::vector<std::uint32_t>> health, std::span<const runtime::WatchedLaunch> launches,
    std::int32_t epoch) {
  std::optional<Launch> earliest;
  for (const std::vector<std::uint32_t>& words : health) {
    if (words.empty() || words[0] == 0) continue;
    for (const kernels::WaitRecord& record : runtime::watched_records(words, launches).records) {
      const runtime::WatchedLaunch* const launch = runtime::launch_of(record, launches);
      if (launch == nullptr) continue;
      const auto latest = static_cast<std::uint32_t>(launch_tag(epoch, launch->layer));
      const Launch found{.behind = (latest - record.expected) / kSlots % kEpochs, .slot = launch->layer};
      if (!earliest || is_earlier(found, *earliest)) earliest = found;
    }
  }
  if (!earliest) return std::nullopt;
  return place_of(epoch - static_cast<std::int32_t>(earliest->behind), earliest->slot);
}

}  // namespace monojit::tools
