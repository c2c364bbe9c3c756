#include "kernels/common/emit/timeline.h"

namespace monojit::kernels {

using namespace monojit::ir;

namespace {

// Asked anew each time: a comparison that the compiler may take for an earlier one's would be kept in two scalar
// registers all the time, of which large kernels have none to spare.
Uniform<Bool> on_wave_0() { return readfirstlane(thread_id()) == 0; }

}  // namespace

// The row's address waits behind the points, for the same reason.
Timeline::Timeline(int points, const Uniform<Ptr<Int64, Global>>& rows) : count_(points) {
  if (count_ == 0) return;
  points_ = LdsLayout().array<Int64>("timeline", static_cast<std::uint32_t>(count_ + 1));
  If(on_wave_0(), [&] {
    If(lane_id() < count_, [&] { store(points_ + lane_id(), 0); });
    store(points_ + count_, address(rows + workgroup_id() * count_));
  });
}

// All threads that touch the points belong to wave 0, whose LDS operations stay in order: no barrier. All its lanes
// store the same.
void Timeline::stamp_number(int point) const {
  if (count_ == 0) return;
  If(on_wave_0(), [&] { store(points_ + point, s_memrealtime()); });
}

void Timeline::write() const {
  if (count_ == 0) return;
  If(on_wave_0(), [&] {
    If(lane_id() < count_, [&] {
      const Ptr<Int64, Global> row = pointer_from_address<Int64>(load(points_ + count_));
      store(row + lane_id(), load(points_ + lane_id()));
    });
  });
}

}  // namespace monojit::kernels
