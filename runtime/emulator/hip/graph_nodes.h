// The parameters of graph nodes as HIP has them, from and to work.
#pragma once

#include "runtime/emulator/hip/graph.h"

namespace monojit::emulator {

/// Each checks what it makes, like the call of a stream that does the same.
[[nodiscard]] Work work_of(const hipKernelNodeParams* parameters);
[[nodiscard]] Work work_of(const hipMemcpy3DParms* parameters);
[[nodiscard]] Work work_of(const hipMemsetParams* parameters);
[[nodiscard]] Work work_of(const hipHostNodeParams* parameters);
/// `parameters->dptr` is set to the memory.
[[nodiscard]] Work work_of(hipMemAllocNodeParams* parameters);
/// Any kind of node. Sets the memory of an allocation.
[[nodiscard]] Work work_of(hipGraphNodeParams* parameters);
[[nodiscard]] Work copy_of_row(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind);

/// Pointers in the result lead into the node and are good as long as it and its parameters are.
[[nodiscard]] hipKernelNodeParams kernel_parameters(hipGraphNode& node);
[[nodiscard]] hipMemcpy3DParms copy_parameters(const CopyWork& copy);
[[nodiscard]] hipMemsetParams fill_parameters(const FillWork& fill);

/// Replaces the work of a node or step. Throws HipError (hipErrorInvalidValue) if its kind would change.
void replace_work(Work& target, Work next);

}  // namespace monojit::emulator
