// HIP: what a device is.
#include <cstring>

#include <fmt/format.h>

#include "runtime/emulator/hip/attributes.h"
#include "runtime/emulator/hip/runtime.h"

// Needs the header above.
#include <hip/hip_deprecated.h>

using monojit::emulator::checked_device;
using monojit::emulator::ChipLimits;
using monojit::emulator::device_attribute;
using monojit::emulator::device_properties;
using monojit::emulator::guarded;
using monojit::emulator::HipError;
using monojit::emulator::pci_bus_id;
using monojit::emulator::refuse_value;
using monojit::emulator::require;
using monojit::emulator::Runtime;
using monojit::emulator::u32;

namespace {

const ChipLimits& chip() { return Runtime::get().settings().chip; }

/// `text` with its end into a buffer of `bytes`, cut as HIP does.
void give_text(char* target, int bytes, const std::string& text) {
  if (bytes <= 0) refuse_value(fmt::format("a buffer of {} bytes", bytes));
  const std::size_t length = std::min<std::size_t>(text.size(), static_cast<std::size_t>(bytes) - 1);
  std::memcpy(target, text.data(), length);
  target[length] = '\0';
}

/// The layout that programs built before ROCm 6 know.
void convert(const hipDeviceProp_tR0600& from, hipDeviceProp_tR0000& to) {
  std::memset(&to, 0, sizeof to);
  std::memcpy(to.name, from.name, sizeof to.name);
  std::memcpy(to.gcnArchName, from.gcnArchName, sizeof to.gcnArchName);
  std::memcpy(to.maxThreadsDim, from.maxThreadsDim, sizeof to.maxThreadsDim);
  std::memcpy(to.maxGridSize, from.maxGridSize, sizeof to.maxGridSize);
#define MONOJIT_SAME(field) to.field = from.field
  MONOJIT_SAME(totalGlobalMem);
  MONOJIT_SAME(sharedMemPerBlock);
  MONOJIT_SAME(regsPerBlock);
  MONOJIT_SAME(warpSize);
  MONOJIT_SAME(maxThreadsPerBlock);
  MONOJIT_SAME(clockRate);
  MONOJIT_SAME(memoryClockRate);
  MONOJIT_SAME(memoryBusWidth);
  MONOJIT_SAME(totalConstMem);
  MONOJIT_SAME(major);
  MONOJIT_SAME(minor);
  MONOJIT_SAME(multiProcessorCount);
  MONOJIT_SAME(l2CacheSize);
  MONOJIT_SAME(maxThreadsPerMultiProcessor);
  MONOJIT_SAME(computeMode);
  MONOJIT_SAME(clockInstructionRate);
  MONOJIT_SAME(arch);
  MONOJIT_SAME(concurrentKernels);
  MONOJIT_SAME(pciDomainID);
  MONOJIT_SAME(pciBusID);
  MONOJIT_SAME(pciDeviceID);
  MONOJIT_SAME(maxSharedMemoryPerMultiProcessor);
  MONOJIT_SAME(canMapHostMemory);
  MONOJIT_SAME(cooperativeLaunch);
  MONOJIT_SAME(memPitch);
  MONOJIT_SAME(textureAlignment);
  MONOJIT_SAME(texturePitchAlignment);
  MONOJIT_SAME(ECCEnabled);
  MONOJIT_SAME(isLargeBar);
  MONOJIT_SAME(managedMemory);
  MONOJIT_SAME(concurrentManagedAccess);
#undef MONOJIT_SAME
}

}  // namespace

extern "C" {

hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* properties, int device) {
  return guarded([&] {
    require(properties, "properties");
    *properties = device_properties(chip(), checked_device(device));
  });
}

#pragma GCC visibility push(default)

hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000* properties, int device) {
  return guarded([&] {
    require(properties, "properties");
    convert(device_properties(chip(), checked_device(device)), *properties);
  });
}

// Programs built before ROCm 6 call the older layout by the plain name.
#undef hipGetDeviceProperties
hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000* properties, int device) {
  return hipGetDevicePropertiesR0000(properties, device);
}

#pragma GCC visibility pop

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  return guarded([&] {
    require(value, "value");
    *value = device_attribute(attribute, chip(), checked_device(device));
  });
}

hipError_t hipDeviceGetName(char* name, int bytes, hipDevice_t device) {
  return guarded([&] {
    require(name, "name");
    static_cast<void>(checked_device(device));
    give_text(name, bytes, std::string(chip().product));
  });
}

hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  return guarded([&] {
    require(uuid, "uuid");
    *uuid = device_properties(chip(), checked_device(device)).uuid;
  });
}

hipError_t hipDeviceGetPCIBusId(char* text, int bytes, int device) {
  return guarded([&] {
    require(text, "text");
    give_text(text, bytes, pci_bus_id(checked_device(device)));
  });
}

hipError_t hipDeviceGetByPCIBusId(int* device, const char* text) {
  return guarded([&] {
    require(device, "device");
    require(text, "text");
    for (u32 i = 0; i < Runtime::get().settings().devices; ++i) {
      if (pci_bus_id(i) == text) {
        *device = static_cast<int>(i);
        return;
      }
    }
    throw HipError(hipErrorInvalidValue, fmt::format("no emulated device on PCI bus {}", text));
  });
}

hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t device) {
  return guarded([&] {
    require(major, "major");
    require(minor, "minor");
    const hipDeviceProp_tR0600 properties = device_properties(chip(), checked_device(device));
    *major = properties.major;
    *minor = properties.minor;
  });
}

hipError_t hipDeviceTotalMem(std::size_t* bytes, hipDevice_t device) {
  return guarded([&] {
    require(bytes, "bytes");
    static_cast<void>(checked_device(device));
    *bytes = chip().memory_bytes;
  });
}

}  // extern "C"
