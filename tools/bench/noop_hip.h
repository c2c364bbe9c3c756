#pragma once

#include <memory>

#include "runtime/hip/table.h"

namespace monojit::tools {

/// A HIP of eight gfx950 devices whose functions do nothing at once: what is left of a launch's time is monojit's own.
std::shared_ptr<const runtime::HipTable> noop_hip();

}  // namespace monojit::tools
