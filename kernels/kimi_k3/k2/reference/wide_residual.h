#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/kimi_k3/k2/reference/residual.h"

namespace monojit::kernels::kimi_k3 {

/// A value in double and how far the kernel's may be from it before it is rounded to its type.
struct WideValue {
  double value = 0;
  double slack = 0;
};

/// Token `token` of x from the prefix that the kernel wrote: AttnRes and norm in double. `inputs.prefix` is that one.
std::vector<WideValue> wide_x(const K2Key& key, const ResidualInputs& inputs, std::size_t token);

/// A row times its own reciprocal root mean square and a weight. `row` values may be off by their slack.
std::vector<WideValue> wide_norm(std::span<const WideValue> row, std::span<const reference::BFloat16Bits> weight,
                                 double eps);

}  // namespace monojit::kernels::kimi_k3
