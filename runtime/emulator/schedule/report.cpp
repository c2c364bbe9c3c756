#include "runtime/emulator/schedule/report.h"

#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>

namespace monojit::emulator {
namespace {

constexpr std::size_t kGroupsNamed = 8;
constexpr std::size_t kPlacesNamed = 16;

struct WaitingPlace {
  u64 waves = 0;
  std::vector<u64> groups;  ///< numbers, the first few
  u64 group_count = 0;
  u64 last_group = ~u64{0};
  u64 last_load = 0;
};

const char* waiting_name(WaveState state) {
  switch (state) {
    case WaveState::kSleeping:
      return "polling with s_sleep";
    case WaveState::kAtBarrier:
      return "at a barrier";
    default:
      return "in a loop";
  }
}

using Places = std::map<std::pair<const MicroOp*, WaveState>, WaitingPlace>;

Places waiting_places(const Grid& grid, std::span<const Visit> visits) {
  Places places;
  for (const auto& [owner, group] : visits) {
    if (owner != &grid) continue;
    for (const Wave& wave : group->waves) {
      if (wave.state == WaveState::kEnded) continue;
      WaitingPlace& place = places[{wave.resume, wave.state}];
      ++place.waves;
      place.last_load = wave.last_load;
      if (place.last_group == group->number) continue;
      place.last_group = group->number;
      ++place.group_count;
      if (place.groups.size() < kGroupsNamed) place.groups.push_back(group->number);
    }
  }
  return places;
}

/// "last load at 0x7f.., inside allocation 3 (...), which holds 0x0".
std::string describe_word(u64 address, const AllocationList& memory) {
  std::string text = fmt::format("last load at {:#x}, {}", address, memory.describe(address));
  if (memory.find(address, address + sizeof(u32)) != nullptr) {
    u32 word;
    std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
    text += fmt::format("; the word there is {:#x}", word);
  }
  return text;
}

std::string describe_places(const Grid& grid, const Places& places, const AllocationList& memory) {
  std::string text;
  std::size_t named = 0;
  for (const auto& [where, place] : places) {
    if (++named > kPlacesNamed) return text + fmt::format("\n  and {} more places", places.size() - kPlacesNamed);
    std::string numbers;
    for (const u64 number : place.groups) numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", number);
    if (place.group_count > place.groups.size()) numbers += ", ...";
    // A wave goes on behind the instruction that made it wait.
    text += fmt::format("\n  {} waves of {} workgroups ({}) {} before {}", place.waves, place.group_count, numbers,
                        waiting_name(where.second), grid.launch().program->describe(where.first));
    if (where.second != WaveState::kAtBarrier && place.last_load != 0) {
      text += "\n    " + describe_word(place.last_load, memory);
    }
  }
  return text;
}

/// Empty when there are none.
std::string describe_stalled(const Grid& grid, std::span<const Visit> visits) {
  std::string numbers;
  u64 count = 0;
  for (const auto& [owner, group] : visits) {
    if (owner != &grid || !group->stalled) continue;
    numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", group->number);
    ++count;
  }
  if (count == grid.request().workgroups() && count > 1) return "\n  stalled by MONOJIT_EMULATOR_STALL: all workgroups";
  return numbers.empty() ? "" : fmt::format("\n  stalled by MONOJIT_EMULATOR_STALL: workgroup {}", numbers);
}

std::string describe_never_started(const Grid& grid, std::span<const Grid* const> grids, const ChipLimits& chip) {
  const LaunchRequest& request = grid.request();
  const Residency fits = residency(request.kernel->descriptor, request.work_items(), request.lds_bytes(), chip);
  const auto same_device = [&](const Grid* other) { return other->request().device == request.device; };
  return fmt::format("\n  {} workgroups never started: the chip holds {} at once (limited by {}){}",
                     grid.never_started(), u64{fits.workgroups_per_cu} * chip.compute_units, fits.limit,
                     std::ranges::count_if(grids, same_device) > 1 ? ", and other kernels hold some of its room" : "");
}

}  // namespace

std::string describe_fault(const LaunchContext& launch, const Workgroup& group, const Wave& wave,
                           const WaveFault& fault) {
  return fmt::format("kernel {}: {}\n  workgroup ({}, {}, {}), wave {}\n  instruction {}", launch.program->kernel,
                     fault.what(), group.id[0], group.id[1], group.id[2], wave.number,
                     launch.program->describe(fault.op()));
}

std::string describe_missing_stalled(const LaunchRequest& request, const Settings& settings) {
  std::string numbers;
  for (const auto& [device, number] : settings.stalled) {
    if (device.value_or(request.device) != request.device || !number || *number < request.workgroups()) continue;
    numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", *number);
  }
  if (numbers.empty()) return numbers;
  return fmt::format("MONOJIT_EMULATOR_STALL names workgroup {}; a launch of {} on device {} has 0..{} only", numbers,
                     request.kernel->name, request.device, request.workgroups() - 1);
}

std::string describe_waiting(std::span<const Grid* const> grids, std::span<const Visit> visits,
                             const Settings& settings, const AllocationList& memory) {
  std::vector<Visit> ordered(visits.begin(), visits.end());  // a seed has shuffled them
  std::ranges::sort(ordered, {}, [](const Visit& visit) { return visit.group->number; });
  std::string text;
  for (const Grid* grid : grids) {
    if (grids.size() > 1 || settings.devices > 1) {
      text += fmt::format("\n device {}, kernel {}:", grid->request().device, grid->launch().program->kernel);
    }
    text += describe_places(*grid, waiting_places(*grid, ordered), memory);
    text += describe_stalled(*grid, ordered);
    if (grid->never_started() > 0) text += describe_never_started(*grid, grids, settings.chip);
  }
  return text;
}

}  // namespace monojit::emulator
