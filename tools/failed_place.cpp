#include "tools/failed_place.h"

#include "kernels/kimi_k3/model.h"
#include "runtime/watched_records.h"
#include "tools/group_plan.h"

namespace monojit::tools {
namespace {

using kernels::kimi_k3::launch_tag;

constexpr std::uint32_t kSlots = 256;          // of a step: what the next step's tags are larger by
constexpr std::uint32_t kEpochs = 0x40'0000U;  // that tags tell apart

}  // namespace

std::optional<std::vector<std::pair<std::string, std::int64_t>>> failed_place(
    std::span<const std::vector<std::uint32_t>> health, std::span<const runtime::WatchedLaunch> launches,
    std::int32_t epoch) {
  std::optional<kernels::WaitRecord> earliest;
  const auto place = [&](const kernels::WaitRecord& record) {
    return runtime::launch_order(record, static_cast<std::uint32_t>(launch_tag(epoch, 0)), launches);
  };
  for (const std::vector<std::uint32_t>& words : health) {
    if (words.empty() || words[0] == 0) continue;
    for (const kernels::WaitRecord& record : runtime::watched_records(words, launches).records) {
      if (runtime::launch_of(record, launches) == nullptr) continue;
      if (!earliest || place(record) < place(*earliest)) earliest = record;
    }
  }
  if (!earliest) return std::nullopt;
  const std::int32_t slot = runtime::launch_of(*earliest, launches)->layer;
  const std::uint32_t behind =
      (static_cast<std::uint32_t>(launch_tag(epoch, slot)) - earliest->expected) / kSlots % kEpochs;
  return place_of(epoch - static_cast<std::int32_t>(behind), slot);
}

}  // namespace monojit::tools
