#pragma once

#include <array>

#include "ir/dsl.h"

namespace monojit::kernels {

/// Transposes items among the four 16-lane groups of a wave: lane 16 g + c gives item j of part g, and gets, as part s,
/// item g of lane 16 s + c. All lanes have to be active.
void transpose_lane_groups(std::array<ir::Vec<ir::Int32, 2>, 4>& parts);

}  // namespace monojit::kernels
