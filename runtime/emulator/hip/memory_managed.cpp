// HIP: advice about managed memory. Host and devices share memory here, so advice has nothing to change: its arguments
// are checked, and that is all.
#include <fmt/format.h>

#include "runtime/emulator/hip/memory.h"
#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::check_device_range;
using monojit::emulator::checked_device;
using monojit::emulator::guarded;
using monojit::emulator::refuse_value;
using monojit::emulator::require;
using monojit::emulator::Runtime;
using monojit::emulator::submit;

namespace {

void check_place(int device) {
  if (device != hipCpuDeviceId) static_cast<void>(checked_device(device));
}

}  // namespace

extern "C" {

hipError_t hipMemAdvise(const void* pointer, std::size_t bytes, hipMemoryAdvise advice, int device) {
  return guarded([&] {
    require(pointer, "pointer");
    const bool known = (advice >= hipMemAdviseSetReadMostly && advice <= hipMemAdviseUnsetAccessedBy) ||
                       advice == hipMemAdviseSetCoarseGrain || advice == hipMemAdviseUnsetCoarseGrain;
    if (!known) refuse_value(fmt::format("hipMemAdvise: advice {}", static_cast<int>(advice)));
    check_place(device);
    check_device_range(pointer, bytes, "hipMemAdvise");
  });
}

hipError_t hipMemPrefetchAsync(const void* pointer, std::size_t bytes, int device, hipStream_t stream) {
  return guarded([&] {
    require(pointer, "pointer");
    check_place(device);
    check_device_range(pointer, bytes, "hipMemPrefetchAsync");
    submit(stream, monojit::emulator::EmptyWork{});
  });
}

}  // extern "C"
