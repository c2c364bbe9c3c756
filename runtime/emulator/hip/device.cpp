// HIP: initialisation, versions, devices.
#include "runtime/emulator/hip/capture.h"
#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::Captures;
using monojit::emulator::checked_device;
using monojit::emulator::current_device;
using monojit::emulator::Failure;
using monojit::emulator::FailureKind;
using monojit::emulator::guarded;
using monojit::emulator::require;
using monojit::emulator::Runtime;
using monojit::emulator::set_current_device;

extern "C" {

hipError_t hipInit(unsigned int flags) {
  return guarded([&] {
    if (flags != 0) throw Failure(FailureKind::kInvalidValue, "hipInit takes flags 0 only");
    static_cast<void>(Runtime::get());
  });
}

hipError_t hipDriverGetVersion(int* version) {
  return guarded([&] { require(version, "version"), *version = HIP_VERSION; });
}

hipError_t hipRuntimeGetVersion(int* version) {
  return guarded([&] { require(version, "version"), *version = HIP_VERSION; });
}

hipError_t hipGetDeviceCount(int* count) {
  return guarded([&] {
    require(count, "count");
    *count = 0;
    *count = static_cast<int>(Runtime::get().settings().devices);
  });
}

hipError_t hipGetDevice(int* device) {
  return guarded([&] { require(device, "device"), *device = static_cast<int>(current_device()); });
}

hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  return guarded([&] { require(device, "device"), *device = static_cast<int>(checked_device(ordinal)); });
}

hipError_t hipSetDevice(int device) {
  return guarded([&] { set_current_device(checked_device(device)); });
}

hipError_t hipDeviceSynchronize() {
  return guarded([] {
    Captures::get().forbid("hipDeviceSynchronize");
    Runtime::get().synchronize();
  });
}

}  // extern "C"
