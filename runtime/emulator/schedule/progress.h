// Tells a launch that makes progress from one that never will.
#pragma once

#include <atomic>
#include <span>

#include "runtime/emulator/execute/wave.h"
#include "runtime/emulator/schedule/workgroup.h"

namespace monojit::emulator {

/// A round is idle when no wave ended, no barrier opened and nothing was stored. Two idle rounds that leave every
/// wave's registers equal prove a deadlock: the next round would do the same again. Waves that read the clock while all
/// wait get a later time instead, so that a time limit inside the kernel ends at once.
class ProgressWatch {
 public:
  void note_progress() { progress_.store(true, std::memory_order_relaxed); }

  /// Called between rounds. True: deadlock.
  bool finish_round(std::span<const Worker> workers, std::span<Workgroup* const> groups, const LaunchContext& launch,
                    std::atomic<u64>& clock);

 private:
  std::atomic<bool> progress_{false};
  u64 writes_ = 0;
  u64 clock_reads_ = 0;
  u64 idle_rounds_ = 0;
  u64 next_check_ = 1;
  u64 digest_ = 0;
};

}  // namespace monojit::emulator
