// How often each straight run of micro-ops was executed, and how long that took.
#pragma once

#include <unordered_map>

#include "runtime/emulator/types.h"

namespace monojit::emulator {

struct MicroOp;

/// One worker's share of a launch. A straight run is what lies between two jumps or yields of a wave: few kernels have
/// more than some hundreds that differ.
class SegmentProfile {
 public:
  struct Totals {
    u64 executions = 0;
    u64 ticks = 0;  ///< of the host's time stamp counter
  };

  /// The next segment begins now: a wave is about to run.
  void start();
  /// The wave has executed the micro-ops `first` up to, not including, `end`. The next segment begins.
  void count(u32 first, u32 end);
  /// All lanes of a buffer access lay behind the end.
  void count_out_of_range(const MicroOp* op) { ++out_of_range_[op]; }

  /// By first << 32 | end.
  [[nodiscard]] const std::unordered_map<u64, Totals>& segments() const { return segments_; }
  [[nodiscard]] const std::unordered_map<const MicroOp*, u64>& out_of_range() const { return out_of_range_; }

 private:
  std::unordered_map<u64, Totals> segments_;
  std::unordered_map<const MicroOp*, u64> out_of_range_;
  u64 started_ = 0;
};

}  // namespace monojit::emulator
