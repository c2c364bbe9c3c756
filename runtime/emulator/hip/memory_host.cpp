// HIP: pinned host memory.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/emulator/hip/memory.h"
#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::allocate_memory;
using monojit::emulator::current_device;
using monojit::emulator::Failure;
using monojit::emulator::free_memory;
using monojit::emulator::guarded;
using monojit::emulator::HipError;
using monojit::emulator::MemoryBlock;
using monojit::emulator::MemoryKind;
using monojit::emulator::refuse_value;
using monojit::emulator::require;
using monojit::emulator::Runtime;
using monojit::emulator::sum_of;
using monojit::emulator::u64;

namespace {

constexpr unsigned int kKnownHostFlags = hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined |
                                         hipHostMallocUncached | hipHostMallocNumaUser | hipHostMallocCoherent |
                                         hipHostMallocNonCoherent;
constexpr unsigned int kKnownRegisterFlags = hipHostRegisterPortable | hipHostRegisterMapped | hipHostRegisterIoMemory |
                                             hipHostRegisterReadOnly | hipExtHostRegisterUncached;

/// Whether the program has all of these addresses.
bool mapped(const void* pointer, std::size_t bytes) {
  const u64 page = static_cast<u64>(sysconf(_SC_PAGESIZE));
  const u64 begin = reinterpret_cast<u64>(pointer) / page * page;
  const u64 end = sum_of(reinterpret_cast<u64>(pointer), bytes);
  // Of pages that are not there msync says so, and does nothing to others.
  return end != ~u64{0} && msync(reinterpret_cast<void*>(begin), end - begin, MS_ASYNC) == 0;
}

/// Coherent is the default, as on the chips.
MemoryKind host_kind(unsigned int flags) {
  if ((flags & ~kKnownHostFlags) != 0) refuse_value(fmt::format("hipHostMalloc: flags {:#x}", flags));
  const bool coherent = (flags & hipHostMallocCoherent) != 0, lax = (flags & hipHostMallocNonCoherent) != 0;
  if (coherent && lax) refuse_value("hipHostMalloc: both coherent and non-coherent memory is asked for");
  if ((flags & hipHostMallocUncached) != 0) return MemoryKind::kUncached;
  return lax ? MemoryKind::kCoarseGrained : MemoryKind::kFineGrained;
}

hipError_t allocate_host(const char* call, void** pointer, std::size_t bytes, unsigned int flags) {
  return guarded([&] {
    require(pointer, "pointer");
    *pointer = allocate_memory(call, bytes, {.kind = host_kind(flags), .host = true, .flags = flags});
  });
}

MemoryBlock host_allocation(const char* call, const void* pointer) {
  require(pointer, "pointer");
  const MemoryBlock found = Runtime::get().memory().at(pointer);
  if (!found.origin.host && !found.origin.managed)
    refuse_value(fmt::format("{}: {} is not pinned host memory", call, pointer));
  return found;
}

}  // namespace

extern "C" {

hipError_t hipHostMalloc(void** pointer, std::size_t bytes, unsigned int flags) {
  return allocate_host("hipHostMalloc", pointer, bytes, flags);
}
hipError_t hipHostAlloc(void** pointer, std::size_t bytes, unsigned int flags) {
  return allocate_host("hipHostAlloc", pointer, bytes, flags);
}
hipError_t hipMallocHost(void** pointer, std::size_t bytes) {
  return allocate_host("hipMallocHost", pointer, bytes, hipHostMallocDefault);
}
hipError_t hipMemAllocHost(void** pointer, std::size_t bytes) {
  return allocate_host("hipMemAllocHost", pointer, bytes, hipHostMallocDefault);
}

hipError_t hipHostFree(void* pointer) {
  return guarded([&] { free_memory("hipHostFree", pointer, true); });
}
hipError_t hipFreeHost(void* pointer) {
  return guarded([&] { free_memory("hipFreeHost", pointer, true); });
}

hipError_t hipHostRegister(void* pointer, std::size_t bytes, unsigned int flags) {
  return guarded([&] {
    require(pointer, "pointer");
    if (bytes == 0) refuse_value("hipHostRegister: 0 bytes");
    if (!mapped(pointer, bytes))
      refuse_value(fmt::format("hipHostRegister: not all of {} bytes at {} are memory of the program", bytes, pointer));
    if ((flags & ~kKnownRegisterFlags) != 0) refuse_value(fmt::format("hipHostRegister: flags {:#x}", flags));
    const bool uncached = (flags & hipExtHostRegisterUncached) != 0;
    const bool coarse = (flags & hipExtHostRegisterCoarseGrained) != 0;
    const MemoryKind kind = uncached ? MemoryKind::kUncached
                            : coarse ? MemoryKind::kCoarseGrained
                                     : MemoryKind::kFineGrained;
    try {
      Runtime::get().memory().register_host(pointer, bytes, {.kind = kind, .device = current_device(), .flags = flags});
    } catch (const Failure& failure) {
      throw HipError(hipErrorHostMemoryAlreadyRegistered, std::string("hipHostRegister: ") + failure.what());
    }
  });
}

hipError_t hipHostUnregister(void* pointer) {
  return guarded([&] {
    require(pointer, "pointer");
    const MemoryBlock found = Runtime::get().memory().at(pointer);
    if (!found.origin.registered || !found.begins_at(pointer)) {
      throw HipError(hipErrorHostMemoryNotRegistered,
                     fmt::format("hipHostUnregister: {} is not the start of registered memory", pointer));
    }
    Runtime::get().engine().drain();
    static_cast<void>(Runtime::get().memory().release(pointer));
  });
}

hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned int flags) {
  return guarded([&] {
    require(device, "device");
    if (flags != 0) refuse_value(fmt::format("hipHostGetDevicePointer: flags {:#x}", flags));
    static_cast<void>(host_allocation("hipHostGetDevicePointer", host));
    *device = host;
  });
}

hipError_t hipHostGetFlags(unsigned int* flags, void* host) {
  return guarded([&] {
    require(flags, "flags");
    *flags = host_allocation("hipHostGetFlags", host).origin.flags;
  });
}

}  // extern "C"
