// Allocations as HIP calls see them.
#pragma once

#include <string>

#include "runtime/emulator/hip/memory_table.h"
#include "runtime/emulator/hip/work.h"

namespace monojit::emulator {

/// Throws Failure (kInvalidValue), naming the allocation, if the range is not part of one live allocation.
void check_device_range(const void* pointer, std::size_t bytes, const char* what);

/// Null pointers, directions, rows longer than their pitch, ranges that leave their allocation.
void check_copy(const CopyWork& copy);
void check_fill(const FillWork& fill);

/// Memory of the current device or of the host; `origin.device` is set to it. `call` names the HIP function in errors.
/// Null for 0 bytes. Throws Failure (kOutOfMemory), HipError.
[[nodiscard]] void* allocate_memory(const char* call, std::size_t bytes, MemoryOrigin origin);

/// hipFree and its kin: waits until no queued work can use it. Null is fine. `want_host` tells which family the call
/// belongs to. Throws Failure (kInvalidValue) for what does not begin a live allocation of that family.
void free_memory(const char* call, void* pointer, bool want_host);

/// What hipFreeAsync queued, when its turn has come.
void release_queued(void* pointer);

}  // namespace monojit::emulator
