// Runs the waves of a launch to their end.
//
// All resident workgroups make progress in rounds: a round visits each of them once, and a visit runs every wave until
// it sleeps, waits at a barrier, has used its budget or is done. Workgroups beyond what the chip holds start when
// others end. With one thread the order is fixed by the seed; with more, each workgroup still belongs to one thread
// during a visit.
#pragma once

#include <atomic>

#include "runtime/emulator/schedule/launch.h"
#include "runtime/emulator/schedule/workgroup.h"
#include "runtime/emulator/settings.h"

namespace monojit::emulator {

class Scheduler {
 public:
  Scheduler(const Settings& settings, Allocations& allocations);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Throws Failure: a bad launch, or what stopped the kernel, with kernel, workgroup, wave, instruction and source
  /// line.
  LaunchReport run(const LaunchRequest& request);

 private:
  struct Run;

  void write_launch_memory(const LaunchRequest& request);

  const Settings& settings_;
  Allocations& allocations_;
  BlockArena arena_;
  u8* launch_memory_ = nullptr;  ///< kernel arguments and dispatch packet, in emulated memory
  std::atomic<u64> clock_{1};
};

}  // namespace monojit::emulator
