// Launch calls' arguments as a launch request.
#pragma once

#include "runtime/emulator/hip/work.h"

namespace monojit::emulator {

/// Grid and block in the order x, y, z; the grid counts workgroups.
struct LaunchShape {
  std::array<u32, 3> grid{1, 1, 1};
  std::array<u32, 3> block{1, 1, 1};
  std::size_t dynamic_lds = 0;
};

/// Arguments come as an array of pointers, or packed in `extra` (HIP_LAUNCH_PARAM_BUFFER_POINTER ...); a kernel that
/// takes none needs neither. Checks everything but what depends on the stream.
/// Throws Failure and HipError naming the kernel.
[[nodiscard]] KernelWork kernel_work(hipFunction_t function, const LaunchShape& shape, void** arguments, void** extra,
                                     bool cooperative = false);

/// Bytes of the kernel argument segment that the caller gives; hidden arguments follow.
[[nodiscard]] std::size_t explicit_argument_bytes(const Kernel& kernel);

}  // namespace monojit::emulator
