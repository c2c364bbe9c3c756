// What a race is told as.
#include <fmt/format.h>

#include "runtime/emulator/checks/race_detector.h"
#include "runtime/emulator/decode/program.h"

namespace monojit::emulator {
namespace {

const char* scope_name(u8 scope) {
  constexpr const char* kNames[] = {"wave", "workgroup", "device", "system"};
  return kNames[scope & 3];
}

const char* kind_name(const PastAccess& access) { return access.write ? "write" : "read"; }

}  // namespace

std::string RaceDetector::describe(const PastAccess& access, bool lds) const {
  const RaceWave& wave = *waves_[access.wave];
  std::string text =
      fmt::format("{} by lane {} of wave {} of workgroup ({}, {}, {}), kernel {}", kind_name(access), access.lane,
                  wave.number, wave.workgroup[0], wave.workgroup[1], wave.workgroup[2], wave.program->kernel);
  if (!lds) text += fmt::format(", device {}, XCD {}, {} scope", wave.device, wave.xcd, scope_name(access.scope));
  return text + "\n    " + wave.program->describe(access.instruction);
}

void RaceDetector::report(const Wave& wave, const MicroOp* op, const PastAccess& before, const Access& now) const {
  std::string where = fmt::format("LDS address {:#x}", now.address);
  if (!now.lds) {
    where = fmt::format("{:#x}, {}", now.address, wave.worker->allocations->snapshot()->describe(now.address));
  }
  wave_fault(FailureKind::kCheckFailed, op,
             fmt::format("data race at {}: nothing orders these two accesses\n  {}\n  {}", where,
                         describe(before, now.lds), describe(now.past, now.lds)));
}

}  // namespace monojit::emulator
