#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/comparing.h"
#include "kernels/kimi_k3/k2/key.h"
#include "kernels/kimi_k3/k2/reference/group.h"
#include "kernels/kimi_k3/k2/reference/reference.h"

namespace monojit::kernels::kimi_k3 {

/// Distances of a launch's results from an order-free reference in double, stage by stage: each stage from what the
/// launch itself left of the one before, so that one rounding does not drag everything behind it along.
struct WideCheck {
  reference::BoundTracker ar, prefix, xrow, sgu, h, rlog, lat, route, inter, latr, ln, shp, final_, out;
};

/// Every rank's own results. `memory` gives the inputs, weights in place; `prefix_before` the prefix of before the
/// launch; `after` what it left.
WideCheck check_wide(const K2Key& key, const GroupMemory& memory,
                     std::span<const std::vector<reference::BFloat16Bits>> prefix_before, const GroupResult& after);

}  // namespace monojit::kernels::kimi_k3
