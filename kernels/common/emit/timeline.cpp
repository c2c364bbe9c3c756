#include "kernels/common/emit/timeline.h"

namespace monojit::kernels {

using namespace monojit::ir;

Timeline::Timeline(int points) : count_(points) {
  if (count_ == 0) return;
  points_ = LdsLayout().array<Int64>("timeline", static_cast<std::uint32_t>(count_));
  If(thread_id() < count_, [&] { store(points_ + thread_id(), 0); });
}

// All threads that touch the points belong to wave 0, whose LDS operations stay in order: no barrier.
void Timeline::stamp_number(int point) const {
  if (count_ == 0) return;
  If(thread_id() == 0, [&] { store(points_ + point, s_memrealtime()); });
}

void Timeline::write(const Uniform<Ptr<Int64, Global>>& row) const {
  if (count_ == 0) return;
  If(thread_id() < count_, [&] { store(row + thread_id(), load(points_ + thread_id())); });
}

}  // namespace monojit::kernels
