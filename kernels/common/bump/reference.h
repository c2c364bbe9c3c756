#pragma once

#include "kernels/common/workload.h"

namespace monojit::kernels::bump {

const Workload& bump_workload();

}  // namespace monojit::kernels::bump
