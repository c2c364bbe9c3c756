// HIP: initialisation, versions, devices.
#include <cstring>

#include <fmt/format.h>

#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::checked_device;
using monojit::emulator::ChipLimits;
using monojit::emulator::current_device;
using monojit::emulator::Failure;
using monojit::emulator::FailureKind;
using monojit::emulator::guarded;
using monojit::emulator::last_fault_text;
using monojit::emulator::remember_error;
using monojit::emulator::require;
using monojit::emulator::Runtime;
using monojit::emulator::set_current_device;

namespace {

template <std::size_t kSize>
void copy_text(char (&target)[kSize], std::string_view text) {
  const std::size_t length = std::min(text.size(), kSize - 1);
  std::memcpy(target, text.data(), length);
  target[length] = '\0';
}

constexpr int kWave = 64;
constexpr int kMostWorkItems = 1024;
constexpr int kMostGrid = 0x7fffffff;

void fill_properties(hipDeviceProp_tR0600& properties, const ChipLimits& chip) {
  std::memset(&properties, 0, sizeof properties);
  copy_text(properties.name, chip.product);
  copy_text(properties.gcnArchName, fmt::format("{}:sramecc+:xnack-", chip.arch));
  properties.totalGlobalMem = chip.memory_bytes;
  properties.sharedMemPerBlock = chip.lds_bytes;
  properties.sharedMemPerMultiprocessor = chip.lds_bytes;
  properties.maxSharedMemoryPerMultiProcessor = chip.lds_bytes;
  properties.regsPerBlock = static_cast<int>(chip.registers_per_lane * chip.simds * kWave);
  properties.regsPerMultiprocessor = properties.regsPerBlock;
  properties.warpSize = kWave;
  properties.maxThreadsPerBlock = kMostWorkItems;
  properties.maxThreadsPerMultiProcessor = static_cast<int>(chip.simds * chip.waves_per_simd * kWave);
  for (int i = 0; i < 3; ++i) {
    properties.maxThreadsDim[i] = kMostWorkItems;
    properties.maxGridSize[i] = kMostGrid;
  }
  properties.clockRate = static_cast<int>(chip.clock_khz);
  properties.multiProcessorCount = static_cast<int>(chip.compute_units);
  properties.major = 9;
  properties.minor = chip.arch == "gfx950" ? 5 : 4;
  properties.cooperativeLaunch = 1;
  properties.unifiedAddressing = 1;
  properties.canMapHostMemory = 1;
  properties.concurrentKernels = 1;
  properties.computeMode = hipComputeModeDefault;
}

int attribute_of(hipDeviceAttribute_t attribute, const hipDeviceProp_tR0600& properties) {
  switch (attribute) {
    case hipDeviceAttributeWarpSize:
      return properties.warpSize;
    case hipDeviceAttributeMultiprocessorCount:
    case hipDeviceAttributePhysicalMultiProcessorCount:
      return properties.multiProcessorCount;
    case hipDeviceAttributeMaxThreadsPerBlock:
      return properties.maxThreadsPerBlock;
    case hipDeviceAttributeMaxThreadsPerMultiProcessor:
      return properties.maxThreadsPerMultiProcessor;
    case hipDeviceAttributeMaxBlockDimX:
    case hipDeviceAttributeMaxBlockDimY:
    case hipDeviceAttributeMaxBlockDimZ:
      return properties.maxThreadsDim[0];
    case hipDeviceAttributeMaxGridDimX:
    case hipDeviceAttributeMaxGridDimY:
    case hipDeviceAttributeMaxGridDimZ:
      return properties.maxGridSize[0];
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
    case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor:
    case hipDeviceAttributeSharedMemPerBlockOptin:
      return static_cast<int>(properties.sharedMemPerBlock);
    case hipDeviceAttributeMaxRegistersPerBlock:
    case hipDeviceAttributeMaxRegistersPerMultiprocessor:
      return properties.regsPerBlock;
    case hipDeviceAttributeClockRate:
      return properties.clockRate;
    case hipDeviceAttributeWallClockRate:
      return 100'000;
    case hipDeviceAttributeComputeCapabilityMajor:
      return properties.major;
    case hipDeviceAttributeComputeCapabilityMinor:
      return properties.minor;
    case hipDeviceAttributeCooperativeLaunch:
    case hipDeviceAttributeUnifiedAddressing:
    case hipDeviceAttributeCanMapHostMemory:
      return 1;
    default:
      throw Failure(FailureKind::kInvalidValue,
                    fmt::format("device attribute {} is not emulated", static_cast<int>(attribute)));
  }
}

}  // namespace

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

hipError_t hipSetDevice(int device) {
  const hipError_t error = guarded([&] { set_current_device(checked_device(device)); });
  return error == hipErrorInvalidValue ? remember_error(hipErrorInvalidDevice, last_fault_text()) : error;
}

hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* properties, int device) {
  return guarded([&] {
    require(properties, "properties");
    static_cast<void>(checked_device(device));
    fill_properties(*properties, Runtime::get().settings().chip);
  });
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  return guarded([&] {
    require(value, "value");
    static_cast<void>(checked_device(device));
    hipDeviceProp_tR0600 properties;
    fill_properties(properties, Runtime::get().settings().chip);
    *value = attribute_of(attribute, properties);
  });
}

hipError_t hipDeviceSynchronize() {
  return guarded([] { Runtime::get().synchronize(); });
}

hipError_t hipGetLastError() { return monojit::emulator::take_last_error(); }
hipError_t hipPeekAtLastError() { return monojit::emulator::peek_last_error(); }

}  // extern "C"
