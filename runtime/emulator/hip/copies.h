// What the calls that copy share.
#pragma once

#include "runtime/emulator/hip/work.h"

namespace monojit::emulator {

[[nodiscard]] CopyWork row_copy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind);
[[nodiscard]] CopyWork plane_copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                  std::size_t width, std::size_t height, hipMemcpyKind kind);
/// Throws HipError (hipErrorNotSupported) for arrays, which only graphics has.
[[nodiscard]] CopyWork box_copy(const hipMemcpy3DParms& parameters);

/// Behind the stream's work, and done when this returns.
void copy_now(const char* call, const CopyWork& copy, hipStream_t stream);

/// Queued, or a node of the graph that the stream captures. A copy from or to memory that is not pinned is waited for,
/// because the caller may reuse that memory at once.
void copy_queued(const CopyWork& copy, hipStream_t stream);

}  // namespace monojit::emulator
