#pragma once

#include "kernels/common/emit/timeline.h"

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

}  // namespace monojit::kernels::minimax_m3
