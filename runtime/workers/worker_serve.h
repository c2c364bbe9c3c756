#pragma once

#include <functional>
#include <memory>

#include "runtime/kernel_builder.h"

namespace monojit::runtime {

/// Whether a worker's memory is limited: not in a build with a sanitizer, whose own tables take terabytes of addresses.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kWorkerMemoryIsLimited = false;
#else
inline constexpr bool kWorkerMemoryIsLimited = true;
#endif

/// The life of a worker process: builds what comes on standard input, which is a socket, until its other end is closed.
/// Standard output becomes standard error. `arguments` are those of main(): the bytes of memory that the process may
/// allocate. Gives the exit code.
int serve_builds(int count, char** arguments, const std::function<std::shared_ptr<KernelBuilder>()>& open);

}  // namespace monojit::runtime
