// How much of its freedom the weak memory takes.
#pragma once

#include "runtime/emulator/types.h"

namespace monojit::emulator {

/// Chances out of 256. Drawn anew for each launch.
struct Freedom {
  u32 late_load = 0;           ///< a load is bound only when it is waited for, or some time before
  u32 late_store = 0;          ///< a store stays in its wave's queue at first
  u32 drain = 0;               ///< one entry of a queue goes, at each access and visit of its wave
  u32 preempt = 0;             ///< a wave lets others run after an access
  u32 evict_clean = 0;         ///< a line that is hit has just been evicted
  u32 evict_dirty = 0;         ///< a line that is written goes to memory at once
  u32 keep_stale = 0;          ///< a load leaves an old line in the caches that it passes
  bool skip_unwritten = true;  ///< loads of Allocation::skippable() memory find it at once
};

}  // namespace monojit::emulator
