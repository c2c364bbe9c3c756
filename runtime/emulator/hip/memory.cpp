// HIP: memory. Device memory is host memory, so copies are plain.
#include <cstring>

#include <fmt/format.h>

#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::Allocation;
using monojit::emulator::Allocations;
using monojit::emulator::Failure;
using monojit::emulator::FailureKind;
using monojit::emulator::guarded;
using monojit::emulator::require;
using monojit::emulator::Runtime;
using monojit::emulator::Streams;
using monojit::emulator::u64;

namespace {

void allocate(void** pointer, std::size_t bytes, Allocations::Use use) {
  require(pointer, "pointer");
  *pointer = nullptr;
  if (bytes == 0) return;
  Runtime& runtime = Runtime::get();
  if (bytes > runtime.settings().chip.memory_bytes) {
    throw Failure(FailureKind::kOutOfMemory, fmt::format("{} bytes, where the emulated device has {}", bytes,
                                                         runtime.settings().chip.memory_bytes));
  }
  *pointer = runtime.allocations().allocate(bytes, use);
}

void release(void* pointer) {
  if (pointer == nullptr) return;
  Runtime::get().engine().drain();
  if (!Runtime::get().allocations().release(pointer)) {
    throw Failure(FailureKind::kInvalidValue, fmt::format("{} is not the start of a live allocation", pointer));
  }
}

/// A range that must be device memory: part of one live allocation.
void require_device_range(const void* pointer, std::size_t bytes, const char* what) {
  const u64 first = reinterpret_cast<u64>(pointer);
  const auto list = Runtime::get().allocations().snapshot();
  if (list->find(first, first + bytes) == nullptr) {
    throw Failure(FailureKind::kInvalidValue,
                  fmt::format("{} of {} bytes at {:#x}: {}", what, bytes, first, list->describe(first)));
  }
}

bool pinned(const void* pointer, std::size_t bytes) {
  const u64 first = reinterpret_cast<u64>(pointer);
  return Runtime::get().allocations().snapshot()->find(first, first + bytes) != nullptr;
}

void check_copy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  require(to, "destination");
  require(from, "source");
  const bool to_device = kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice;
  const bool from_device = kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice;
  if (to_device) require_device_range(to, bytes, "copy to device memory");
  if (from_device) require_device_range(from, bytes, "copy from device memory");
}

void copy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  Streams& streams = Runtime::get().streams();
  if (bytes > 0) check_copy(to, from, bytes, kind);
  streams.run(streams.resolve(nullptr), [=] { std::memmove(to, from, bytes); });
}

/// The caller may reuse pageable memory at once, so such a copy is waited for, as on hardware.
void copy_async(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  Streams& streams = Runtime::get().streams();
  ihipStream_t& queue = streams.resolve(stream);
  if (bytes == 0) return;
  check_copy(to, from, bytes, kind);
  const auto work = [=] { std::memmove(to, from, bytes); };
  if (pinned(to, bytes) && pinned(from, bytes)) {
    streams.enqueue(queue, {.work = work});
  } else {
    streams.run(queue, work);
  }
}

void fill(void* pointer, int value, std::size_t bytes, hipStream_t stream, bool wait) {
  Streams& streams = Runtime::get().streams();
  ihipStream_t& queue = streams.resolve(stream);
  if (bytes > 0) require_device_range(pointer, bytes, "fill");
  const auto work = [=] { std::memset(pointer, value, bytes); };
  if (wait) {
    streams.run(queue, work);
  } else {
    streams.enqueue(queue, {.work = work});
  }
}

}  // namespace

extern "C" {

hipError_t hipMalloc(void** pointer, std::size_t bytes) {
  return guarded([&] { allocate(pointer, bytes, Allocations::Use::kDevice); });
}

hipError_t hipFree(void* pointer) {
  return guarded([&] { release(pointer); });
}

hipError_t hipHostMalloc(void** pointer, std::size_t bytes, unsigned int) {
  return guarded([&] { allocate(pointer, bytes, Allocations::Use::kHost); });
}

hipError_t hipHostFree(void* pointer) {
  return guarded([&] { release(pointer); });
}

hipError_t hipMemGetInfo(std::size_t* free, std::size_t* total) {
  return guarded([&] {
    require(free, "free");
    require(total, "total");
    *total = Runtime::get().settings().chip.memory_bytes;
    std::size_t used = 0;
    for (const Allocation& range : Runtime::get().allocations().snapshot()->live)
      used += range.host ? 0 : range.end - range.begin;
    *free = *total > used ? *total - used : 0;
  });
}

hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  return guarded([&] { copy(to, from, bytes, kind); });
}

hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  return guarded([&] { copy_async(to, from, bytes, kind, stream); });
}

hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void* from, std::size_t bytes) {
  return guarded([&] { copy(to, from, bytes, hipMemcpyHostToDevice); });
}

hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, std::size_t bytes) {
  return guarded([&] { copy(to, from, bytes, hipMemcpyDeviceToHost); });
}

hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, std::size_t bytes) {
  return guarded([&] { copy(to, from, bytes, hipMemcpyDeviceToDevice); });
}

hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, const void* from, std::size_t bytes, hipStream_t stream) {
  return guarded([&] { copy_async(to, from, bytes, hipMemcpyHostToDevice, stream); });
}

hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from, std::size_t bytes, hipStream_t stream) {
  return guarded([&] { copy_async(to, from, bytes, hipMemcpyDeviceToHost, stream); });
}

hipError_t hipMemset(void* pointer, int value, std::size_t bytes) {
  return guarded([&] { fill(pointer, value, bytes, nullptr, true); });
}

hipError_t hipMemsetAsync(void* pointer, int value, std::size_t bytes, hipStream_t stream) {
  return guarded([&] { fill(pointer, value, bytes, stream, false); });
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  return guarded([&] {
    require(attributes, "attributes");
    std::memset(attributes, 0, sizeof *attributes);
    const u64 address = reinterpret_cast<u64>(pointer);
    const auto list = Runtime::get().allocations().snapshot();
    const Allocation* const found = list->find(address, address + 1);
    attributes->type = found == nullptr ? hipMemoryTypeUnregistered
                       : found->host    ? hipMemoryTypeHost
                                        : hipMemoryTypeDevice;
    attributes->devicePointer = found == nullptr ? nullptr : const_cast<void*>(pointer);
    attributes->hostPointer = found != nullptr && found->host ? const_cast<void*>(pointer) : nullptr;
  });
}

}  // extern "C"
