// How handlers hand on to the next micro-op, branch, yield and count.
#pragma once

#include "runtime/emulator/decode/program.h"
#include "runtime/emulator/execute/segment_profile.h"
#include "runtime/emulator/execute/wave.h"

namespace monojit::emulator {

/// Counts the instructions from the start of the running segment up to (not including) `end`.
inline void count_segment(Wave& wave, const MicroOp* end) {
  const Program& program = *wave.program;
  if (SegmentProfile* const segments = wave.worker->segments; segments != nullptr) [[unlikely]] {
    segments->count(static_cast<u32>(wave.segment - program.ops.data()), static_cast<u32>(end - program.ops.data()));
  }
  const StaticCounts& last = program.counts[static_cast<std::size_t>(end - program.ops.data())];
  const StaticCounts& first = program.counts[static_cast<std::size_t>(wave.segment - program.ops.data())];
  for (u32 i = 0; i < kCountClasses; ++i) wave.worker->counts[i] += last[i] - first[i];
}

/// Leaves the straight run at `from` for `target`. True: the wave has used its budget and must yield.
inline bool take_branch(Wave& wave, const MicroOp* from, const MicroOp* target) {
  count_segment(wave, from + 1);
  wave.segment = target;
  if (target > from) return false;
  wave.budget -= static_cast<i32>(from - target) + 1;
  if (wave.budget >= 0) return false;
  wave.resume = target;
  wave.state = WaveState::kYielded;
  return true;
}

/// Stops behind `op`, to go on with the next one later.
inline void yield_after(Wave& wave, const MicroOp* op, WaveState state) {
  count_segment(wave, op + 1);
  wave.segment = wave.resume = op + 1;
  wave.state = state;
}

}  // namespace monojit::emulator
