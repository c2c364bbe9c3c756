#pragma once

#include "ir/dsl.h"
#include "kernels/minimax_m3/k1/layout.h"

namespace monojit::kernels::minimax_m3 {

/// Points of a workgroup's timeline, in the order of specification §12.
enum class Stamp : int {
  kStart,
  kSquaresKnown,
  kActivationsQuantised,
  kProjectionPut,
  kHeadArrived,
  kBodyDone,
  kScoresDone
};

/// Time stamps of one workgroup. They stay in LDS until the end, so that no stage waits for their stores. Emits nothing
/// when it is off.
class Timeline {
 public:
  explicit Timeline(bool on);
  void stamp(Stamp point) const;
  /// Writes all points, those that were not passed as 0, to `row`.
  void write(const ir::Uniform<ir::Ptr<ir::Int64, ir::Global>>& row) const;

 private:
  bool on_;
  ir::LdsArray<ir::Int64> points_;
};

}  // namespace monojit::kernels::minimax_m3
