// HIP: contexts, as far as programs ported from the driver interface call them. A device has one context, its primary
// one; making a context current is choosing its device.
#include <array>
#include <vector>

#include <fmt/format.h>

#include "runtime/emulator/hip/runtime.h"

struct ihipCtx_t {
  monojit::emulator::u32 device = 0;
};

using monojit::emulator::checked_device;
using monojit::emulator::current_device;
using monojit::emulator::guarded;
using monojit::emulator::HipError;
using monojit::emulator::kMostDevices;
using monojit::emulator::refuse_value;
using monojit::emulator::require;
using monojit::emulator::set_current_device;
using monojit::emulator::u32;

namespace {

constexpr unsigned int kApiVersion = 3020;  // what CUDA's driver answers, and HIP after it

std::array<ihipCtx_t, kMostDevices>& contexts() {
  static std::array<ihipCtx_t, kMostDevices> all = [] {
    std::array<ihipCtx_t, kMostDevices> made;
    for (u32 i = 0; i < kMostDevices; ++i) made[i].device = i;
    return made;
  }();
  return all;
}

thread_local std::vector<u32> pushed;  // devices that were current before the pushes

hipCtx_t context_of(u32 device) { return &contexts()[device]; }

u32 device_of(hipCtx_t context) {
  for (const ihipCtx_t& known : contexts()) {
    if (&known == context) return checked_device(static_cast<int>(known.device));
  }
  throw HipError(hipErrorInvalidContext, "not a context of an emulated device");
}

}  // namespace

extern "C" {

hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t device) {
  return guarded([&] { require(context, "context"), *context = context_of(checked_device(device)); });
}

hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  return guarded([&] { static_cast<void>(checked_device(device)); });
}

hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned int* flags, int* active) {
  return guarded([&] {
    static_cast<void>(checked_device(device));
    if (flags != nullptr) *flags = 0;
    if (active != nullptr) *active = 1;
  });
}

hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned int flags) {
  return guarded([&] {
    static_cast<void>(checked_device(device));
    if (flags != 0) throw HipError(hipErrorContextAlreadyInUse, fmt::format("context flags {:#x}: too late", flags));
  });
}

hipError_t hipCtxCreate(hipCtx_t* context, unsigned int, hipDevice_t device) {
  return guarded([&] {
    require(context, "context");
    const u32 number = checked_device(device);
    pushed.push_back(current_device());
    set_current_device(number);
    *context = context_of(number);
  });
}

hipError_t hipCtxDestroy(hipCtx_t context) {
  return guarded([&] { static_cast<void>(device_of(context)); });
}

hipError_t hipCtxSetCurrent(hipCtx_t context) {
  return guarded([&] {
    if (context != nullptr) set_current_device(device_of(context));
  });
}

hipError_t hipCtxGetCurrent(hipCtx_t* context) {
  return guarded([&] { require(context, "context"), *context = context_of(current_device()); });
}

hipError_t hipCtxPushCurrent(hipCtx_t context) {
  return guarded([&] {
    const u32 device = device_of(context);
    pushed.push_back(current_device());
    set_current_device(device);
  });
}

hipError_t hipCtxPopCurrent(hipCtx_t* context) {
  return guarded([&] {
    if (pushed.empty()) throw HipError(hipErrorInvalidContext, "no context was pushed by this thread");
    if (context != nullptr) *context = context_of(current_device());
    set_current_device(pushed.back());
    pushed.pop_back();
  });
}

hipError_t hipCtxGetDevice(hipDevice_t* device) {
  return guarded([&] { require(device, "device"), *device = static_cast<int>(current_device()); });
}

hipError_t hipCtxGetApiVersion(hipCtx_t context, unsigned int* version) {
  return guarded([&] {
    require(version, "version");
    if (context != nullptr) static_cast<void>(device_of(context));
    *version = kApiVersion;
  });
}

hipError_t hipCtxGetFlags(unsigned int* flags) {
  return guarded([&] { require(flags, "flags"), *flags = 0; });
}

hipError_t hipCtxSynchronize() { return hipDeviceSynchronize(); }

}  // extern "C"
