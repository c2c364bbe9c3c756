#pragma once

#include <span>
#include <vector>

namespace monojit::kernels::reference {

/// a + b rounded once to f32; a and b may have 53 bits each.
float rounded_sum(double a, double b);

/// A sum of doubles without rounding, as a list of parts that do not overlap.
class ExactSum {
 public:
  void add(double value);
  /// Rounded once to f32. Infinities and NaNs among the terms decide as in IEEE sums.
  float rounded() const;

 private:
  std::vector<double> parts_;  // rising magnitude
  double special_ = 0;
};

/// The sum of all terms, rounded once.
float exact_sum(std::span<const double> terms);

}  // namespace monojit::kernels::reference
