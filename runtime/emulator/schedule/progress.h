// Tells launches that make progress from ones that never will.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "runtime/emulator/execute/wave.h"
#include "runtime/emulator/schedule/grid.h"
#include "runtime/emulator/schedule/outside.h"

namespace monojit::emulator {

/// A resident workgroup of a grid.
struct Visit {
  Grid* grid = nullptr;
  Workgroup* group = nullptr;
};

/// A round is idle when no wave ended and nothing was stored. Two rounds with only
/// idle ones between them that leave every wave's registers equal prove a deadlock: what follows would be the same
/// again. Waves that read the clock while all wait get a later time instead, so that a time limit inside the kernel
/// ends at once.
class ProgressWatch {
 public:
  enum class Verdict : u8 { kProgress, kHeld, kIdle, kDeadlock };

  /// Forgets idle rounds: other launches begin.
  void restart() { idle_rounds_ = 0, next_check_ = 1, idle_since_ = {}; }
  /// From any thread, often: only the first call of a round writes, as a write takes the cache line from the others.
  void note_progress() {
    if (!progress_.load(std::memory_order_relaxed)) progress_.store(true, std::memory_order_relaxed);
  }

  /// Called between rounds. A memory model (or null) may still have stores on their way. Without an outside world
  /// nobody else can act. `held`: waves were kept from running, so that an idle round proves nothing (kHeld).
  Verdict finish_round(std::span<const std::unique_ptr<Worker>> workers, std::span<const Visit> visits,
                       std::atomic<u64>& clock, MemoryModel* model, OutsideWorld* world, bool held);

 private:
  using Clock = std::chrono::steady_clock;

  bool idle_round(std::span<const std::unique_ptr<Worker>> workers, std::atomic<u64>& clock, MemoryModel* model);
  Verdict finish_idle_round(std::span<const Visit> visits, std::atomic<u64>& clock, OutsideWorld* world);
  bool any_computing(std::span<const Visit> visits);
  bool repeats(std::span<const Visit> visits);

  std::atomic<bool> progress_{false};
  u64 writes_ = 0;
  u64 clock_reads_ = 0;
  bool asked_the_time_ = false;
  u64 idle_rounds_ = 0;           ///< in a row, with nobody outside
  u64 next_check_ = 1;            ///< the idle round to be kept next
  u32 looks_ = 0;                 ///< at all waves since then
  u64 digest_of_loops_ = 0;       ///< then
  u64 digest_ = 0;                ///< then
  Clock::time_point idle_since_;  ///< up to when time that passed on the wall has been given to the kernels
};

}  // namespace monojit::emulator
