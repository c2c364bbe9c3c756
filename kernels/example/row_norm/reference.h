#pragma once

#include "kernels/common/workload.h"

namespace monojit::kernels::example {

const Workload& row_norm_workload();

}  // namespace monojit::kernels::example
