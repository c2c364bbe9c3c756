// HIP: memory is made and freed. Device memory is host memory, so every pointer is good on both sides.
#include "runtime/emulator/hip/memory.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/emulator/hip/capture.h"
#include "runtime/emulator/hip/graph_memory.h"
#include "runtime/emulator/hip/pools.h"
#include "runtime/emulator/hip/runtime.h"

namespace monojit::emulator {
namespace {

[[noreturn]] void refuse_free(const char* call, const void* pointer) {
  throw Failure(FailureKind::kInvalidValue,
                fmt::format("{}: {} is not the start of a live allocation: {}", call, pointer,
                            Runtime::get().allocations().snapshot()->describe(reinterpret_cast<u64>(pointer))));
}

}  // namespace

void* allocate_memory(const char* call, std::size_t bytes, MemoryOrigin origin) {
  Captures::get().forbid(call);
  if (bytes == 0) return nullptr;
  Runtime& runtime = Runtime::get();
  origin.device = current_device();
  const u64 total = runtime.settings().chip.memory_bytes;
  const u64 left = total - std::min(total, runtime.memory().used(origin.device));
  if (!origin.host && bytes > left) {
    throw Failure(FailureKind::kOutOfMemory, fmt::format("{} of {} bytes, where device {} has {} of its {} left", call,
                                                         bytes, origin.device, left, total));
  }
  return runtime.memory().make(bytes, origin);
}

void free_memory(const char* call, void* pointer, bool want_host) {
  if (pointer == nullptr) return;
  Captures::get().forbid(call);
  Runtime& runtime = Runtime::get();
  const MemoryBlock found = runtime.memory().at(pointer);
  if (!found.begins_at(pointer) || found.code) refuse_free(call, pointer);
  if (found.imported) {
    throw Failure(FailureKind::kInvalidValue,
                  fmt::format("{}: {} is memory of another process: use hipIpcCloseMemHandle", call, pointer));
  }
  if (found.origin.registered) {
    throw Failure(FailureKind::kInvalidValue,
                  fmt::format("{}: {} is memory of the program, registered: use hipHostUnregister", call, pointer));
  }
  if (found.origin.host != want_host) {
    throw Failure(FailureKind::kInvalidValue,
                  fmt::format("{}: {} is {} memory: use {}", call, pointer, found.origin.host ? "host" : "device",
                              found.origin.host ? "hipHostFree" : "hipFree"));
  }
  if (GraphMemory::owns(pointer)) return;  // it goes with its graphs
  runtime.engine().drain();
  note_pool_free(pointer);
  if (!runtime.memory().release(pointer)) refuse_free(call, pointer);
}

void release_queued(void* pointer) {
  if (GraphMemory::owns(pointer)) return;
  note_pool_free(pointer);
  if (!Runtime::get().memory().release(pointer)) refuse_free("hipFreeAsync", pointer);
}

}  // namespace monojit::emulator

using monojit::emulator::allocate_memory;
using monojit::emulator::current_device;
using monojit::emulator::free_memory;
using monojit::emulator::guarded;
using monojit::emulator::MemoryKind;
using monojit::emulator::refuse_value;
using monojit::emulator::require;
using monojit::emulator::Runtime;
using monojit::emulator::sum_of;

namespace {

constexpr std::size_t kPitchBytes = 256;

MemoryKind kind_of(unsigned int flags) {
  switch (flags) {
    case hipDeviceMallocDefault:
    case hipDeviceMallocContiguous:
      return MemoryKind::kCoarseGrained;
    case hipDeviceMallocFinegrained:
      return MemoryKind::kFineGrained;
    case hipMallocSignalMemory:
    case hipDeviceMallocUncached:
      return MemoryKind::kUncached;
    default:
      refuse_value(fmt::format("hipExtMallocWithFlags: flags {:#x}", flags));
  }
}

void* allocate_pitched(const char* call, std::size_t* pitch, std::size_t width, std::size_t height) {
  require(pitch, "pitch");
  const std::size_t rounded = sum_of(width, kPitchBytes - 1) / kPitchBytes * kPitchBytes;
  if (width > rounded || (height != 0 && rounded > SIZE_MAX / height))
    refuse_value(fmt::format("{}: {} rows of {} bytes", call, height, width));
  void* const memory = allocate_memory(call, rounded * height, {});
  *pitch = rounded;
  return memory;
}

}  // namespace

extern "C" {

hipError_t hipMalloc(void** pointer, std::size_t bytes) {
  return guarded([&] {
    require(pointer, "pointer");
    *pointer = allocate_memory("hipMalloc", bytes, {});
  });
}

hipError_t hipExtMallocWithFlags(void** pointer, std::size_t bytes, unsigned int flags) {
  return guarded([&] {
    require(pointer, "pointer");
    const MemoryKind kind = kind_of(flags);
    if (flags == hipMallocSignalMemory && bytes != sizeof(monojit::emulator::u64))
      refuse_value(fmt::format("signal memory of {} bytes: it has 8", bytes));
    *pointer = allocate_memory("hipExtMallocWithFlags", bytes, {.kind = kind, .flags = flags});
  });
}

hipError_t hipMallocManaged(void** pointer, std::size_t bytes, unsigned int flags) {
  return guarded([&] {
    require(pointer, "pointer");
    if (flags != hipMemAttachGlobal && flags != hipMemAttachHost)
      refuse_value(fmt::format("hipMallocManaged: flags {:#x}", flags));
    if (bytes == 0) refuse_value("hipMallocManaged: 0 bytes");
    *pointer =
        allocate_memory("hipMallocManaged", bytes, {.kind = MemoryKind::kFineGrained, .managed = true, .flags = flags});
  });
}

hipError_t hipMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  return guarded([&] {
    require(pointer, "pointer");
    *pointer = allocate_pitched("hipMallocPitch", pitch, width, height);
  });
}

hipError_t hipMemAllocPitch(hipDeviceptr_t* pointer, std::size_t* pitch, std::size_t width, std::size_t height,
                            unsigned int) {
  return guarded([&] {
    require(pointer, "pointer");
    *pointer = allocate_pitched("hipMemAllocPitch", pitch, width, height);
  });
}

hipError_t hipFree(void* pointer) {
  return guarded([&] { free_memory("hipFree", pointer, false); });
}

hipError_t hipMemGetInfo(std::size_t* free, std::size_t* total) {
  return guarded([&] {
    Runtime& runtime = Runtime::get();
    const std::size_t all = runtime.settings().chip.memory_bytes;
    const std::size_t used = runtime.memory().used(current_device());
    if (free != nullptr) *free = all > used ? all - used : 0;
    if (total != nullptr) *total = all;
  });
}

}  // extern "C"
