#include "runtime/emulator/hip/pools.h"

#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "runtime/emulator/hip/capture.h"
#include "runtime/emulator/hip/graph_memory.h"
#include "runtime/emulator/hip/memory.h"
#include "runtime/emulator/hip/runtime.h"

namespace monojit::emulator {
namespace {

/// All pools of the process.
class Pools {
 public:
  static Pools& get() {
    static Pools* const instance = new Pools;  // never destroyed: frees may come late
    return *instance;
  }

  std::mutex mutex;
  std::array<ihipMemPoolHandle_t, kMostDevices> standard;
  std::array<hipMemPool_t, kMostDevices> chosen{};  ///< by hipDeviceSetMemPool; null: the standard one
  std::set<hipMemPool_t> made;
  struct Use {
    hipMemPool_t pool;
    u64 bytes;
  };
  std::map<const void*, Use> uses;

  /// Call with the lock. Throws HipError (hipErrorInvalidValue).
  ihipMemPoolHandle_t& checked(hipMemPool_t pool) {
    for (ihipMemPoolHandle_t& known : standard) {
      if (&known == pool) return known;
    }
    if (!made.contains(pool)) refuse_value(fmt::format("{} is not a memory pool", static_cast<void*>(pool)));
    return *pool;
  }

  hipMemPool_t of_device(u32 device) { return chosen[device] != nullptr ? chosen[device] : &standard[device]; }

 private:
  Pools() {
    for (u32 device = 0; device < kMostDevices; ++device) standard[device].device = device;
  }
};

}  // namespace

void note_pool_free(void* pointer) {
  Pools& pools = Pools::get();
  const std::lock_guard lock(pools.mutex);
  const auto found = pools.uses.find(pointer);
  if (found == pools.uses.end()) return;
  found->second.pool->used -= found->second.bytes;
  pools.uses.erase(found);
}

hipMemPool_t pool_of(const void* pointer) {
  Pools& pools = Pools::get();
  const std::lock_guard lock(pools.mutex);
  const auto found = pools.uses.find(pointer);
  return found == pools.uses.end() ? nullptr : found->second.pool;
}

}  // namespace monojit::emulator

using monojit::emulator::Captures;
using monojit::emulator::check_device_range;
using monojit::emulator::checked_device;
using monojit::emulator::FreeWork;
using monojit::emulator::guarded;
using monojit::emulator::HipError;
using monojit::emulator::MemoryBlock;
using monojit::emulator::Pools;
using monojit::emulator::refuse_unsupported;
using monojit::emulator::refuse_value;
using monojit::emulator::require;
using monojit::emulator::Runtime;
using monojit::emulator::submit;
using monojit::emulator::u32;
using monojit::emulator::u64;

namespace {

void* allocate_from(hipMemPool_t handle, std::size_t bytes) {
  Pools& pools = Pools::get();
  const std::lock_guard lock(pools.mutex);
  ihipMemPoolHandle_t& pool = pools.checked(handle);
  const u64 most = pool.most_bytes != 0 ? pool.most_bytes : Runtime::get().settings().chip.memory_bytes;
  if (bytes > most || pool.used > most - bytes) {
    throw HipError(hipErrorOutOfMemory,
                   fmt::format("{} bytes of a memory pool that holds {} and has {} in use", bytes, most, pool.used));
  }
  void* const pointer = Runtime::get().memory().make(bytes, {.device = pool.device});
  pool.used += bytes;
  pool.used_high = std::max(pool.used_high, pool.used);
  pools.uses[pointer] = {handle, bytes};
  return pointer;
}

/// A null pool is the one of the stream's device.
void* allocate_on(hipStream_t handle, hipMemPool_t pool, std::size_t bytes) {
  const ihipStream_t& stream = Runtime::get().streams().resolve(handle);
  if (bytes == 0) return nullptr;
  if (void* const captured = Captures::get().allocate(stream, bytes); captured != nullptr) return captured;
  if (pool == nullptr) {
    Pools& pools = Pools::get();
    const std::lock_guard lock(pools.mutex);
    pool = pools.of_device(stream.device);
  }
  return allocate_from(pool, bytes);
}

/// The attribute's place, for those that are 64-bit numbers; null for the reuse ones.
u64* number_of(ihipMemPoolHandle_t& pool, hipMemPoolAttr attribute) {
  switch (attribute) {
    case hipMemPoolAttrReleaseThreshold:
      return &pool.release_threshold;
    case hipMemPoolAttrReservedMemCurrent:
    case hipMemPoolAttrUsedMemCurrent:
      return &pool.used;
    case hipMemPoolAttrReservedMemHigh:
    case hipMemPoolAttrUsedMemHigh:
      return &pool.used_high;
    default:
      return nullptr;
  }
}

int& reuse_of(ihipMemPoolHandle_t& pool, hipMemPoolAttr attribute) {
  const auto index = static_cast<u32>(attribute) - static_cast<u32>(hipMemPoolReuseFollowEventDependencies);
  if (index >= std::size(pool.reuse)) refuse_value(fmt::format("pool attribute {}", static_cast<int>(attribute)));
  return pool.reuse[index];
}

/// Runs `body` with the pool and the lock.
template <class Body>
hipError_t with_pool(hipMemPool_t handle, Body body) {
  return guarded([&] {
    require(handle, "pool");
    Pools& pools = Pools::get();
    const std::lock_guard lock(pools.mutex);
    body(pools.checked(handle));
  });
}

}  // namespace

extern "C" {

hipError_t hipMallocAsync(void** pointer, std::size_t bytes, hipStream_t stream) {
  return guarded([&] { require(pointer, "pointer"), *pointer = allocate_on(stream, nullptr, bytes); });
}

hipError_t hipMallocFromPoolAsync(void** pointer, std::size_t bytes, hipMemPool_t pool, hipStream_t stream) {
  return guarded([&] {
    require(pointer, "pointer");
    require(pool, "pool");
    *pointer = allocate_on(stream, pool, bytes);
  });
}

hipError_t hipFreeAsync(void* pointer, hipStream_t stream) {
  return guarded([&] {
    if (pointer == nullptr) return;
    const MemoryBlock found = Runtime::get().memory().at(pointer);
    if (!found.begins_at(pointer) || found.origin.host || found.code) {
      check_device_range(pointer, 1, "hipFreeAsync");
      refuse_value(fmt::format("hipFreeAsync: {} is not the start of device memory", pointer));
    }
    submit(stream, FreeWork{pointer});
  });
}

hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* properties) {
  return guarded([&] {
    require(pool, "pool");
    require(properties, "properties");
    if (properties->allocType != hipMemAllocationTypePinned)
      refuse_value(fmt::format("pool: allocation type {}", static_cast<int>(properties->allocType)));
    if (properties->handleTypes != hipMemHandleTypeNone)
      refuse_unsupported("a memory pool with shareable handles: share allocations with hipIpcGetMemHandle");
    if (properties->location.type != hipMemLocationTypeDevice) refuse_value("pool: its location is not a device");
    const u32 device = checked_device(properties->location.id);
    Pools& pools = Pools::get();
    const std::lock_guard lock(pools.mutex);
    *pool = *pools.made.insert(new ihipMemPoolHandle_t{.device = device, .most_bytes = properties->maxSize}).first;
  });
}

hipError_t hipMemPoolDestroy(hipMemPool_t handle) {
  return guarded([&] {
    require(handle, "pool");
    Pools& pools = Pools::get();
    const std::lock_guard lock(pools.mutex);
    ihipMemPoolHandle_t& pool = pools.checked(handle);
    if (!pools.made.contains(handle)) refuse_value("the default memory pool of a device can't be destroyed");
    for (auto& chosen : pools.chosen) {
      if (chosen == handle) chosen = nullptr;
    }
    // Memory that is still used stays until it is freed.
    for (auto& [pointer, use] : pools.uses) {
      if (use.pool == handle) use.pool = &pools.standard[pool.device], pools.standard[pool.device].used += use.bytes;
    }
    pools.made.erase(handle);
    delete handle;
  });
}

hipError_t hipMemPoolTrimTo(hipMemPool_t handle, std::size_t) {
  return with_pool(handle, [](ihipMemPoolHandle_t&) {});
}

hipError_t hipMemPoolSetAttribute(hipMemPool_t handle, hipMemPoolAttr attribute, void* value) {
  return with_pool(handle, [&](ihipMemPoolHandle_t& pool) {
    require(value, "value");
    u64* const number = number_of(pool, attribute);
    if (number == nullptr) {
      reuse_of(pool, attribute) = *static_cast<int*>(value);
    } else if (attribute == hipMemPoolAttrReleaseThreshold) {
      *number = *static_cast<u64*>(value);
    } else if (number == &pool.used_high && *static_cast<u64*>(value) == 0) {
      pool.used_high = pool.used;
    } else {
      refuse_value("pool: only the high marks can be set among the figures, to 0");
    }
  });
}

hipError_t hipMemPoolGetAttribute(hipMemPool_t handle, hipMemPoolAttr attribute, void* value) {
  return with_pool(handle, [&](ihipMemPoolHandle_t& pool) {
    require(value, "value");
    if (const u64* const number = number_of(pool, attribute); number != nullptr) {
      *static_cast<u64*>(value) = *number;
    } else {
      *static_cast<int*>(value) = reuse_of(pool, attribute);
    }
  });
}

hipError_t hipMemPoolSetAccess(hipMemPool_t handle, const hipMemAccessDesc* list, std::size_t count) {
  return with_pool(handle, [&](ihipMemPoolHandle_t& pool) {
    if (count > 0) require(list, "list");
    for (std::size_t i = 0; i < count; ++i) {
      const u32 device = checked_device(list[i].location.id);
      if (device == pool.device && list[i].flags != hipMemAccessFlagsProtReadWrite)
        refuse_value("pool: its own device always reads and writes");
    }
  });
}

hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t handle, hipMemLocation* location) {
  return with_pool(handle, [&](ihipMemPoolHandle_t&) {
    require(flags, "flags");
    require(location, "location");
    static_cast<void>(checked_device(location->id));
    *flags = hipMemAccessFlagsProtReadWrite;
  });
}

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  return guarded([&] { require(pool, "pool"), *pool = &Pools::get().standard[checked_device(device)]; });
}

hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int device) {
  return guarded([&] {
    require(pool, "pool");
    const u32 number = checked_device(device);
    Pools& pools = Pools::get();
    const std::lock_guard lock(pools.mutex);
    *pool = pools.of_device(number);
  });
}

hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool) {
  return guarded([&] {
    const u32 number = checked_device(device);
    Pools& pools = Pools::get();
    const std::lock_guard lock(pools.mutex);
    if (pools.checked(pool).device != number)
      refuse_value(fmt::format("device {}: the memory pool belongs to device {}", number, pool->device));
    pools.chosen[number] = pool;
  });
}

}  // extern "C"
