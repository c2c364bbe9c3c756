#pragma once

#include "kernels/common/workload.h"

namespace monojit::kernels::minimax_m3 {

/// Data and host reference of K1. compare() follows the device's model of the matrix core.
const Workload& k1_workload();

}  // namespace monojit::kernels::minimax_m3
