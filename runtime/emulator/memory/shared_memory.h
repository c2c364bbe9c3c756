// Memory that other processes can map: anonymous files that vanish with their last user.
#pragma once

#include "runtime/emulator/types.h"

namespace monojit::emulator {

/// Puts a shareable file of the same contents under [begin, begin + bytes) of private memory (whole pages). Nothing may
/// store there meanwhile. Returns the file's descriptor. Throws Failure (kOutOfMemory).
[[nodiscard]] int make_shareable(void* begin, u64 bytes);

/// Maps such a file over reserved address space. Throws Failure (kOutOfMemory).
void map_shared(void* begin, u64 bytes, int descriptor);

}  // namespace monojit::emulator
