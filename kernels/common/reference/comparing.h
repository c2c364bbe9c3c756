#pragma once

#include <cstddef>

#include "kernels/common/reference/fp8.h"
#include "kernels/common/workload.h"

namespace monojit::kernels::reference {

/// Elements of `actual` whose bits differ from those of `expected`, a tensor of the same type and size. Two NaNs are
/// equal whatever their sign and payload, which no specification gives. `format` says what an FP8 NaN is.
std::size_t mismatches(const Tensor& expected, const Tensor& actual, Fp8Format format);

/// Gathers distances of a device's results from an order-free reference, each with a bound of its own, and keeps the
/// worst: the one whose distance is the largest share of its bound.
class BoundTracker {
 public:
  /// `result` must lie between `low` and `high`, what the ends of an interval around `wide` are rounded to; its
  /// distance from `wide` is bounded by theirs. A NaN passes where `wide` or an end is NaN. `magnitude`: of the terms
  /// of the sum that `wide` is. Where it is beyond a float's range the sum may run into an infinity on its way, or into
  /// two of them, so that infinities and NaNs pass; they fail elsewhere.
  void add(double result, double wide, double low, double high, double magnitude = 0);

  /// As add(), for ends `wide` - `slack` and `wide` + `slack` that go through the monotone function `rounding` of a
  /// float.
  template <class Rounding>
  void add_rounded(double result, double wide, double slack, Rounding rounding, double magnitude = 0) {
    add(result, wide, rounding(static_cast<float>(wide - slack)), rounding(static_cast<float>(wide + slack)),
        magnitude);
  }

  /// Of the worst element.
  double error() const { return error_; }
  double bound() const { return bound_; }
  bool within() const { return error_ <= bound_; }

 private:
  double share_ = -1;
  double error_ = 0;
  double bound_ = 0;
};

}  // namespace monojit::kernels::reference
