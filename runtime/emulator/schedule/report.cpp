#include "runtime/emulator/schedule/report.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "runtime/emulator/code/debug_lines.h"

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
      return "polling";
  }
}

}  // namespace

std::string describe_instruction(const LaunchContext& launch, const MicroOp* op) {
  const InstructionRecord& instruction = launch.program->instruction_of(op);
  const std::string line = source_line(launch.request->kernel->module->file(), instruction.address);
  const std::size_t text = instruction.text.find_first_not_of(' ');
  return fmt::format("{:#x}: {}{}", instruction.address, text == std::string::npos ? "" : instruction.text.substr(text),
                     line.empty() ? "" : fmt::format("  [{}]", line));
}

std::string describe_fault(const LaunchContext& launch, const Workgroup& group, const Wave& wave,
                           const WaveFault& fault) {
  return fmt::format("kernel {}: {}\n  workgroup ({}, {}, {}), wave {}\n  instruction {}", launch.program->kernel,
                     fault.what(), group.id[0], group.id[1], group.id[2], wave.number,
                     describe_instruction(launch, fault.op()));
}

std::string describe_deadlock(const LaunchContext& launch, std::span<Workgroup* const> groups, u64 never_started,
                              const AllocationList& memory) {
  std::map<std::pair<const MicroOp*, WaveState>, WaitingPlace> places;
  for (const Workgroup* group : groups) {
    for (const Wave& wave : group->waves) {
      if (wave.state == WaveState::kEnded) continue;
      WaitingPlace& place = places[{wave.resume, wave.state}];
      ++place.waves;
      place.last_load = wave.last_load;
      if (place.last_group != group->number) {
        place.last_group = group->number;
        ++place.group_count;
        if (place.groups.size() < kGroupsNamed) place.groups.push_back(group->number);
      }
    }
  }
  std::string text = fmt::format("kernel {}: deadlock: no wave can make progress, and nothing is stored any more",
                                 launch.program->kernel);
  std::size_t named = 0;
  for (const auto& [where, place] : places) {
    if (++named > kPlacesNamed) {
      text += fmt::format("\n  and {} more places", places.size() - kPlacesNamed);
      break;
    }
    std::string numbers;
    for (const u64 number : place.groups) numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", number);
    if (place.group_count > place.groups.size()) numbers += ", ...";
    // A wave goes on behind the instruction that made it wait.
    text += fmt::format("\n  {} waves of {} workgroups ({}) {} before {}", place.waves, place.group_count, numbers,
                        waiting_name(where.second), describe_instruction(launch, where.first));
    if (where.second != WaveState::kAtBarrier && place.last_load != 0) {
      text += fmt::format("\n    last load at {:#x}, {}", place.last_load, memory.describe(place.last_load));
    }
  }
  if (never_started > 0)
    text += fmt::format("\n  {} workgroups never started: the chip holds {} at once", never_started, groups.size());
  return text;
}

}  // namespace monojit::emulator
