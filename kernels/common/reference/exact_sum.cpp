#include "kernels/common/reference/exact_sum.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace monojit::kernels::reference {
namespace {

struct TwoSum {
  double sum;
  double error;  ///< what the addition lost, exactly
};

TwoSum two_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

/// `value` + a rest smaller than its last bit, rounded to f32. Rounding to odd first keeps the second rounding from
/// seeing a false tie.
float round_with_rest(double value, double rest) {
  if (rest != 0 && std::isfinite(value)) {
    auto bits = std::bit_cast<std::int64_t>(value);
    if ((bits & 1) == 0) bits += (rest > 0) == (value > 0) ? 1 : -1;
    value = std::bit_cast<double>(bits);
  }
  return static_cast<float>(value);
}

}  // namespace

float rounded_sum(double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) return static_cast<float>(a + b);
  const TwoSum total = two_sum(a, b);
  return round_with_rest(total.sum, total.error);
}

void ExactSum::add(double value) {
  if (!std::isfinite(value)) {
    special_ += value;
    return;
  }
  std::size_t kept = 0;
  for (const double part : parts_) {
    const TwoSum step = two_sum(value, part);
    value = step.sum;
    if (step.error != 0) parts_[kept++] = step.error;
  }
  parts_.resize(kept);
  if (value != 0) parts_.push_back(value);
}

float ExactSum::rounded() const {
  if (special_ != 0) return static_cast<float>(special_);  // true of NaN too
  if (parts_.empty()) return 0;
  return round_with_rest(parts_.back(), parts_.size() > 1 ? parts_[parts_.size() - 2] : 0);
}

float exact_sum(std::span<const double> terms) {
  ExactSum sum;
  for (const double term : terms) sum.add(term);
  return sum.rounded();
}

}  // namespace monojit::kernels::reference
