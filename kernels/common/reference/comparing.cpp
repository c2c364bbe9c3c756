#include "kernels/common/reference/comparing.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/tensors.h"

namespace monojit::kernels::reference {
namespace {

template <class T, class IsNan>
std::size_t count(const Tensor& expected, const Tensor& actual, IsNan is_nan) {
  const auto want = elements<T>(expected);
  const auto got = elements<T>(actual);
  std::size_t differing = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (want[i] != got[i] && !(is_nan(want[i]) && is_nan(got[i]))) ++differing;
  }
  return differing;
}

constexpr auto kNever = [](auto) { return false; };

}  // namespace

std::size_t mismatches(const Tensor& expected, const Tensor& actual, Fp8Format format) {
  if (std::memcmp(expected.bytes.data(), actual.bytes.data(), expected.bytes.size()) == 0) return 0;
  switch (expected.dtype) {
    case DType::kBFloat16:
      return count<BFloat16Bits>(expected, actual, bf16_is_nan);
    case DType::kFloat32:
      return count<std::uint32_t>(expected, actual,
                                  [](std::uint32_t bits) { return (bits & 0x7FFFFFFFU) > 0x7F800000U; });
    case DType::kFp8:
      return count<std::uint8_t>(expected, actual, [format](std::uint8_t byte) { return fp8_is_nan(format, byte); });
    case DType::kInt64:
      return count<std::uint64_t>(expected, actual, kNever);
    case DType::kInt32:
      return count<std::uint32_t>(expected, actual, kNever);
    case DType::kUint8:
      return count<std::uint8_t>(expected, actual, kNever);
  }
  return expected.bytes.size();
}

void BoundTracker::add(double result, double wide, double low, double high, double magnitude) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!std::isfinite(result) && magnitude > static_cast<double>(std::numeric_limits<float>::max())) return;
  if (std::isnan(result) && (std::isnan(wide) || std::isnan(low) || std::isnan(high))) return;
  if (result == wide || (std::isinf(result) && (result == low || result == high))) return;
  double error = std::fabs(result - wide);
  if (std::isnan(error)) error = kInfinity;
  double bound = 0;
  for (const double end : {low, high}) {
    const double distance = std::fabs(end - wide);
    if (std::isfinite(distance)) bound = std::max(bound, distance);
  }
  const double share = bound > 0 ? error / bound : kInfinity;
  if (share < share_ || (share == share_ && error <= error_)) return;
  share_ = share;
  error_ = error;
  bound_ = bound;
}

}  // namespace monojit::kernels::reference
