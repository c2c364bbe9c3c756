#pragma once

#include "tools/kernel_run.h"

namespace monojit::tools {

/// run_group() with a process a rank: each has a device of its own and opens the others' peer buffers through IPC
/// handles. A process that ends before the others have ends their waits, too.
RunResult run_group_in_processes(runtime::Jit& jit, const kernels::BuildKey& key, const RunOptions& options);

}  // namespace monojit::tools
