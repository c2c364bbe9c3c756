// HIP: limits, cache configuration and scheduling flags of a device. They are kept and told; the stack size is used
// too.
#include "runtime/emulator/hip/limits.h"

#include <atomic>

#include <fmt/format.h>

#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::guarded;
using monojit::emulator::HipError;
using monojit::emulator::refuse_value;
using monojit::emulator::require;
using monojit::emulator::Runtime;

namespace {

constexpr std::size_t kStackUnit = 16;
constexpr std::size_t kMostStackBytes = 128 * 1024 - 16;
constexpr std::size_t kHeapBytes = 8 << 20;
constexpr unsigned int kKnownDeviceFlags = hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;

std::atomic<std::size_t> stack_bytes{monojit::emulator::kDefaultStackBytes};
std::atomic<std::size_t> heap_bytes{kHeapBytes};
std::atomic<unsigned int> device_flags{hipDeviceScheduleAuto};

[[noreturn]] void refuse_limit(hipLimit_t limit) {
  throw HipError(hipErrorUnsupportedLimit, fmt::format("limit {} is not one of the emulator", static_cast<int>(limit)));
}

void check_cache_config(hipFuncCache_t config) {
  if (config < hipFuncCachePreferNone || config > hipFuncCachePreferEqual)
    refuse_value(fmt::format("cache configuration {}", static_cast<int>(config)));
}

void check_bank_config(hipSharedMemConfig config) {
  if (config < hipSharedMemBankSizeDefault || config > hipSharedMemBankSizeEightByte)
    refuse_value(fmt::format("LDS bank configuration {}", static_cast<int>(config)));
}

}  // namespace

namespace monojit::emulator {

u32 stack_limit() { return static_cast<u32>((stack_bytes + kStackUnit - 1) / kStackUnit * kStackUnit); }

}  // namespace monojit::emulator

extern "C" {

hipError_t hipDeviceGetLimit(std::size_t* value, hipLimit_t limit) {
  return guarded([&] {
    require(value, "value");
    static_cast<void>(Runtime::get());
    if (limit == hipLimitStackSize) {
      *value = stack_bytes;
    } else if (limit == hipLimitMallocHeapSize) {
      *value = heap_bytes;
    } else {
      refuse_limit(limit);
    }
  });
}

hipError_t hipDeviceSetLimit(hipLimit_t limit, std::size_t value) {
  return guarded([&] {
    if (limit == hipLimitStackSize) {
      if (value > kMostStackBytes) refuse_value(fmt::format("a stack of {} bytes a lane", value));
      stack_bytes = value;
    } else if (limit == hipLimitMallocHeapSize) {
      if (value > Runtime::get().settings().chip.memory_bytes) refuse_value(fmt::format("a heap of {} bytes", value));
      heap_bytes = value;
    } else {
      refuse_limit(limit);
    }
  });
}

hipError_t hipDeviceSetCacheConfig(hipFuncCache_t config) {
  return guarded([&] { check_cache_config(config); });
}

hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* config) {
  return guarded([&] { require(config, "config"), *config = hipFuncCachePreferNone; });
}

hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config) {
  return guarded([&] { check_bank_config(config); });
}

hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig* config) {
  return guarded([&] { require(config, "config"), *config = hipSharedMemBankSizeFourByte; });
}

hipError_t hipFuncSetCacheConfig(const void* function, hipFuncCache_t config) {
  return guarded([&] { require(function, "function"), check_cache_config(config); });
}

hipError_t hipFuncSetSharedMemConfig(const void* function, hipSharedMemConfig config) {
  return guarded([&] { require(function, "function"), check_bank_config(config); });
}

hipError_t hipSetDeviceFlags(unsigned int flags) {
  return guarded([&] {
    if ((flags & ~kKnownDeviceFlags) != 0) refuse_value(fmt::format("device flags {:#x}", flags));
    device_flags = flags;
  });
}

hipError_t hipGetDeviceFlags(unsigned int* flags) {
  return guarded([&] { require(flags, "flags"), *flags = device_flags; });
}

}  // extern "C"
