// One wave as the race detector sees it.
#pragma once

#include <array>
#include <deque>
#include <string>

#include "runtime/emulator/checks/vector_clock.h"
#include "runtime/emulator/memory/memory_model.h"

namespace monojit::emulator {

struct Program;
struct RaceGroup;

/// Accesses of one kind (vector memory, or LDS) in the order of issue: which of them a wait counter has seen done.
class IssuedAccesses {
 public:
  [[nodiscard]] u32 time() const { return time_; }
  [[nodiscard]] u32 done() const { return done_; }
  [[nodiscard]] bool all_done() const { return outstanding_.empty(); }
  /// Counts one; what follows is later than it.
  void issue() {
    outstanding_.push_back(time_++);
    if (outstanding_.size() > kMostCounted) arrive();
  }
  /// At most `left` of the accesses are still on their way.
  void wait(u32 left) {
    while (outstanding_.size() > left) arrive();
  }

 private:
  static constexpr std::size_t kMostCounted = 63;

  void arrive() {
    done_ = outstanding_.front();
    outstanding_.pop_front();
  }

  u32 time_ = 1;
  u32 done_ = 0;
  std::deque<u32> outstanding_;
};

struct RaceWave {
  u32 id = 0;
  ClockPlace place;
  u32 number = 0;  ///< in its workgroup
  u32 device = 0;
  u32 xcd = 0;
  std::array<u32, 3> workgroup{};
  const Program* program = nullptr;
  RaceGroup* group = nullptr;

  IssuedAccesses memory;
  IssuedAccesses lds;
  ScopedClocks seen;   ///< ordered before, where no stale cache line can hide it
  JoinedClocks taken;  ///< to `seen`, by loads and atomics
  ScopedClocks clock;  ///< ordered before, and stale lines have been invalidated since
  VectorClock lds_seen;
  u32 written_back_device = 0;  ///< own accesses that a finished write-back covers
  u32 written_back_system = 0;
  bool write_back_pending = false;
  ScopedClocks write_back;  ///< what the pending one makes visible further away
  u32 barriers = 0;         ///< arrived at
  u32 barriers_passed = 0;

  /// After its end, when only others' knowledge of it counts.
  void forget() {
    memory = lds = {};
    seen = clock = write_back = {};
    lds_seen = {};
  }
};

/// What the waves of a workgroup bring to one barrier.
struct BarrierClocks {
  u32 number = 0;
  ScopedClocks seen;
  ScopedClocks clock;
  VectorClock lds;
  u32 settled = 0;  ///< waves that came with all their LDS accesses done
};

}  // namespace monojit::emulator
