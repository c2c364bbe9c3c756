#pragma once

#include <cstdint>

#include "ir/dsl.h"

namespace monojit::kernels {

/// Time stamps of one workgroup. They stay in LDS until the end, so that no stage waits for their stores. Emits nothing
/// without points.
class Timeline {
 public:
  Timeline() = default;
  /// `rows`: a row of points of each workgroup, which write() fills.
  Timeline(int points, const ir::Uniform<ir::Ptr<ir::Int64, ir::Global>>& rows);

  /// Wave 0 passes a point now.
  template <class Point>
  void stamp(Point point) const {
    stamp_number(static_cast<int>(point));
  }
  /// Writes all points, those that were not passed as 0.
  void write() const;

 private:
  void stamp_number(int point) const;

  int count_ = 0;
  ir::LdsArray<ir::Int64> points_;
};

}  // namespace monojit::kernels
