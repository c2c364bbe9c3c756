#pragma once

#include <functional>

namespace monojit::codegen::comgr {

/// Runs `work`, in a thread of its own when the process's working folder is gone (removed, say): LLVM's file systems
/// end the process there. The thread has / as its working folder, for itself alone. Throws what `work` throws, and
/// CodegenError where the system does not let a thread have a folder of its own.
void with_working_folder(const std::function<void()>& work);

}  // namespace monojit::codegen::comgr
