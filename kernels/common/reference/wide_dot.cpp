#include "kernels/common/reference/wide_dot.h"

#include <cmath>
#include <cstdint>

namespace monojit::kernels::reference {
namespace {

constexpr std::size_t kLanes = 16;

#define MONOJIT_HOST_LOOPS "kernels/common/reference/wide_dot_loops.inc"
#include "kernels/common/reference/host_variants.h"

}  // namespace

WideDot wide_dot(const BFloat16Bits* weights, const BFloat16Bits* activations, std::size_t length) {
  double sums[kLanes] = {};
  double magnitudes[kLanes] = {};
  const std::size_t whole = length / kLanes * kLanes;
  static const auto kAddProducts = MONOJIT_FOR_HOST(add_products);
  kAddProducts(weights, activations, whole, sums, magnitudes);
  WideDot dot;
  for (std::size_t i = whole; i < length; ++i) {
    const double product =
        static_cast<double>(bf16_value(weights[i])) * static_cast<double>(bf16_value(activations[i]));
    dot.sum += product;
    dot.magnitude += std::fabs(product);
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    dot.sum += sums[lane];
    dot.magnitude += magnitudes[lane];
  }
  return dot;
}

}  // namespace monojit::kernels::reference
