#include "kernels/minimax_m3/k1/emit/timeline.h"

namespace monojit::kernels::minimax_m3 {

using namespace monojit::ir;

Timeline::Timeline(bool on) : on_(on) {
  if (!on_) return;
  points_ = LdsLayout().array<Int64>("timeline", kTimelinePoints);
  If(thread_id() < kTimelinePoints, [&] { store(points_ + thread_id(), 0); });
}

// All threads that touch the points belong to wave 0, whose LDS operations stay in order: no barrier.
void Timeline::stamp(Stamp point) const {
  if (!on_) return;
  If(thread_id() == 0, [&] { store(points_ + static_cast<int>(point), s_memrealtime()); });
}

void Timeline::write(const Uniform<Ptr<Int64, Global>>& row) const {
  if (!on_) return;
  If(thread_id() < kTimelinePoints, [&] { store(row + thread_id(), load(points_ + thread_id())); });
}

}  // namespace monojit::kernels::minimax_m3
