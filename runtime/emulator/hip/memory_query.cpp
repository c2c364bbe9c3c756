// HIP: what is known about a pointer.
#include <cstring>

#include <fmt/format.h>

#include "runtime/emulator/hip/memory.h"
#include "runtime/emulator/hip/pools.h"
#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::check_device_range;
using monojit::emulator::guarded;
using monojit::emulator::HipError;
using monojit::emulator::MemoryBlock;
using monojit::emulator::pool_of;
using monojit::emulator::refuse_value;
using monojit::emulator::require;
using monojit::emulator::Runtime;

namespace {

hipMemoryType type_of(const MemoryBlock& block) {
  if (!block.known()) return hipMemoryTypeUnregistered;
  if (block.origin.managed) return hipMemoryTypeManaged;
  return block.origin.host ? hipMemoryTypeHost : hipMemoryTypeDevice;
}

template <class T>
void give(void* target, T value) {
  std::memcpy(target, &value, sizeof value);
}

void give_attribute(void* data, hipPointer_attribute attribute, const void* pointer) {
  const MemoryBlock block = Runtime::get().memory().at(pointer);
  if (!block.known()) refuse_value(fmt::format("{} is in no live allocation", pointer));
  const bool on_host = block.origin.host || block.origin.managed;
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return give(data, type_of(block));
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return give(data, pointer);
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
      return give(data, on_host ? pointer : nullptr);
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
      return give(data, block.number);
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
      return give(data, block.origin.managed);
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give(data, static_cast<int>(block.origin.device));
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return give(data, block.begin);
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
      return give(data, static_cast<std::size_t>(block.end - block.begin));
    case HIP_POINTER_ATTRIBUTE_MAPPED:
    case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE:
      return give(data, attribute == HIP_POINTER_ATTRIBUTE_MAPPED || !on_host);
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      return give(data, false);
    case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return give(data, hipMemAccessFlagsProtReadWrite);
    case HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return give(data, pool_of(reinterpret_cast<const void*>(block.begin)));
    default:
      refuse_value(fmt::format("pointer attribute {} is not emulated", static_cast<int>(attribute)));
  }
}

}  // namespace

extern "C" {

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  return guarded([&] {
    require(attributes, "attributes");
    require(pointer, "pointer");
    std::memset(attributes, 0, sizeof *attributes);
    const MemoryBlock found = Runtime::get().memory().at(pointer);
    attributes->type = type_of(found);
    attributes->device = found.known() ? static_cast<int>(found.origin.device) : hipInvalidDeviceId;
    if (!found.known()) return;
    void* const same = const_cast<void*>(pointer);
    attributes->devicePointer = same;
    attributes->hostPointer = found.origin.host || found.origin.managed ? same : nullptr;
    attributes->isManaged = found.origin.managed ? 1 : 0;
    attributes->allocationFlags = found.origin.flags;
  });
}

hipError_t hipPointerGetAttribute(void* data, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
  return guarded([&] {
    require(data, "data");
    require(pointer, "pointer");
    give_attribute(data, attribute, pointer);
  });
}

hipError_t hipDrvPointerGetAttributes(unsigned int count, hipPointer_attribute* attributes, void** data,
                                      hipDeviceptr_t pointer) {
  return guarded([&] {
    require(attributes, "attributes");
    require(data, "data");
    require(pointer, "pointer");
    for (unsigned int i = 0; i < count; ++i) {
      require(data[i], "data");
      give_attribute(data[i], attributes[i], pointer);
    }
  });
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, std::size_t* bytes, hipDeviceptr_t pointer) {
  return guarded([&] {
    require(pointer, "pointer");
    const MemoryBlock found = Runtime::get().memory().at(pointer);
    if (!found.known()) throw HipError(hipErrorNotFound, fmt::format("{} is in no live allocation", pointer));
    if (base != nullptr) *base = reinterpret_cast<hipDeviceptr_t>(found.begin);
    if (bytes != nullptr) *bytes = found.end - found.begin;
  });
}

hipError_t hipMemPtrGetInfo(void* pointer, std::size_t* bytes) {
  return guarded([&] {
    require(pointer, "pointer");
    require(bytes, "bytes");
    check_device_range(pointer, 1, "hipMemPtrGetInfo");
    const MemoryBlock found = Runtime::get().memory().at(pointer);
    *bytes = found.end - found.begin;
  });
}

}  // extern "C"
