// What hipDeviceSetLimit asks for.
#pragma once

#include "runtime/emulator/schedule/launch.h"

namespace monojit::emulator {

/// Bytes of stack of a lane, for kernels whose need the compiler can't tell; a multiple of 16.
[[nodiscard]] u32 stack_limit();

}  // namespace monojit::emulator
