// Stream-ordered memory: pools, and which of them a pointer came from.
#pragma once

#include <mutex>

#include <hip/hip_runtime_api.h>

#include "runtime/emulator/types.h"

/// A pool; the handle type that HIP's headers leave open. Memory is made when it is asked for and goes back to the
/// device when its free has its turn in the stream, so a pool never holds more than what is used; a kernel that touches
/// freed memory is found that way. The reuse attributes and the release threshold are kept and told only.
struct ihipMemPoolHandle_t {
  monojit::emulator::u32 device = 0;
  monojit::emulator::u64 most_bytes = 0;  ///< 0: what the device has
  monojit::emulator::u64 used = 0;
  monojit::emulator::u64 used_high = 0;
  monojit::emulator::u64 release_threshold = 0;
  int reuse[3] = {1, 1, 1};  ///< of event dependencies, opportunistic, internal dependencies
};

namespace monojit::emulator {

/// Tells the pool that the memory came from, if any, that it is freed.
void note_pool_free(void* pointer);

/// The pool that the live memory at `pointer` came from, or null.
[[nodiscard]] hipMemPool_t pool_of(const void* pointer);

}  // namespace monojit::emulator
