#pragma once

#include "tools/kernel_run.h"

namespace monojit::tools {

/// Whether the kernels of a family run on a group of devices in lockstep.
bool runs_on_group(const kernels::Family& family);

/// Has to be called before the emulator starts, when it is to start with a kernel that needs one device alone.
void reserve_group_devices();

/// run_kernel() for those: builds or finds the kernel, launches it on all ranks, emulated devices of this process, on
/// seeded data, and compares every output, hand-off and flag of every rank with the host reference. Throws UserError
/// for options that a group does not take.
RunResult run_group(runtime::Jit& jit, const kernels::BuildKey& key, const RunOptions& options);

}  // namespace monojit::tools
