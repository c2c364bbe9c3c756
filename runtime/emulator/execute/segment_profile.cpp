#include "runtime/emulator/execute/segment_profile.h"

#include <x86intrin.h>

namespace monojit::emulator {

void SegmentProfile::start() { started_ = __rdtsc(); }

void SegmentProfile::count(u32 first, u32 end) {
  const u64 ticks = __rdtsc() - started_;
  Totals& totals = segments_[u64{first} << 32 | end];
  ++totals.executions;
  totals.ticks += ticks;
  started_ = __rdtsc();  // what counting costs is nobody's
}

}  // namespace monojit::emulator
