#include "runtime/emulator/hip/attributes.h"

#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "runtime/emulator/hip/errors.h"

namespace monojit::emulator {
namespace {

constexpr int kWave = 64;
constexpr int kMostWorkItems = 1024;
constexpr int kMostGridX = 0x7fffffff;
constexpr int kMostGridYz = 65536;
constexpr int kWallClockKhz = 100'000;  // s_memrealtime
constexpr int kFirstPciBus = 5;
constexpr int kPciBusStep = 16;
constexpr std::size_t kTextureAlignment = 256;

/// Facts of a product beyond what decides about execution.
struct Product {
  int memory_clock_khz;
  int memory_bus_bits;
  int l2_bytes;  // of one XCD
  int pci_chip;
};

Product product_of(const ChipLimits& chip) {
  constexpr int kXcdL2Bytes = 4 << 20;
  if (chip.chip == Chip::kGfx950) return {2'000'000, 8192, kXcdL2Bytes, 0x75a3};
  return {1'300'000, 8192, kXcdL2Bytes, 0x74a1};
}

template <std::size_t kSize>
void copy_text(char (&target)[kSize], std::string_view text) {
  const std::size_t length = std::min(text.size(), kSize - 1);
  std::memcpy(target, text.data(), length);
  target[length] = '\0';
}

void fill_sizes(hipDeviceProp_tR0600& properties, const ChipLimits& chip) {
  properties.totalGlobalMem = chip.memory_bytes;
  properties.totalConstMem = std::numeric_limits<int>::max();
  properties.sharedMemPerBlock = chip.lds_bytes;
  properties.sharedMemPerBlockOptin = chip.lds_bytes;
  properties.sharedMemPerMultiprocessor = chip.lds_bytes;
  properties.maxSharedMemoryPerMultiProcessor = chip.lds_bytes;
  properties.regsPerBlock = static_cast<int>(chip.registers_per_lane * chip.simds * kWave);
  properties.regsPerMultiprocessor = properties.regsPerBlock;
  properties.warpSize = kWave;
  properties.memPitch = std::numeric_limits<int>::max();
  properties.maxThreadsPerBlock = kMostWorkItems;
  properties.maxThreadsPerMultiProcessor = static_cast<int>(chip.simds * chip.waves_per_simd * kWave);
  properties.maxBlocksPerMultiProcessor = static_cast<int>(chip.simds * chip.waves_per_simd);
  for (int i = 0; i < 3; ++i) properties.maxThreadsDim[i] = kMostWorkItems;
  properties.maxGridSize[0] = kMostGridX;
  properties.maxGridSize[1] = kMostGridYz;
  properties.maxGridSize[2] = kMostGridYz;
  properties.textureAlignment = kTextureAlignment;
  properties.texturePitchAlignment = kTextureAlignment;
  properties.surfaceAlignment = kTextureAlignment;
}

void fill_clocks(hipDeviceProp_tR0600& properties, const ChipLimits& chip) {
  const Product product = product_of(chip);
  properties.clockRate = static_cast<int>(chip.clock_khz);
  properties.clockInstructionRate = kWallClockKhz;
  properties.memoryClockRate = product.memory_clock_khz;
  properties.memoryBusWidth = product.memory_bus_bits;
  properties.l2CacheSize = product.l2_bytes;
}

void fill_abilities(hipDeviceProp_tR0600& properties) {
  for (int* ability :
       {&properties.canMapHostMemory, &properties.concurrentKernels, &properties.ECCEnabled,
        &properties.unifiedAddressing, &properties.streamPrioritiesSupported, &properties.managedMemory,
        &properties.concurrentManagedAccess, &properties.canUseHostPointerForRegisteredMem,
        &properties.cooperativeLaunch, &properties.hostRegisterSupported, &properties.memoryPoolsSupported,
        &properties.hostNativeAtomicSupported, &properties.isLargeBar, &properties.globalL1CacheSupported}) {
    *ability = 1;
  }
  properties.computeMode = hipComputeModeDefault;
  properties.arch.hasGlobalInt32Atomics = 1;
  properties.arch.hasGlobalFloatAtomicExch = 1;
  properties.arch.hasSharedInt32Atomics = 1;
  properties.arch.hasSharedFloatAtomicExch = 1;
  properties.arch.hasFloatAtomicAdd = 1;
  properties.arch.hasGlobalInt64Atomics = 1;
  properties.arch.hasSharedInt64Atomics = 1;
  properties.arch.hasDoubles = 1;
  properties.arch.hasWarpVote = 1;
  properties.arch.hasWarpBallot = 1;
  properties.arch.hasWarpShuffle = 1;
  properties.arch.hasThreadFenceSystem = 1;
  properties.arch.hasSyncThreadsExt = 1;
  properties.arch.has3dGrid = 1;
}

int clamp_to_int(u64 value) {
  return static_cast<int>(std::min<u64>(value, static_cast<u64>(std::numeric_limits<int>::max())));
}

}  // namespace

hipDeviceProp_tR0600 device_properties(const ChipLimits& chip, u32 device) {
  hipDeviceProp_tR0600 properties;
  std::memset(&properties, 0, sizeof properties);
  copy_text(properties.name, chip.product);
  copy_text(properties.gcnArchName, fmt::format("{}:sramecc+:xnack-", chip.arch));
  const std::string uuid = fmt::format("{:016x}", device);
  std::memcpy(properties.uuid.bytes, uuid.data(), sizeof properties.uuid.bytes);
  properties.major = 9;
  properties.minor = chip.chip == Chip::kGfx950 ? 5 : 4;
  properties.multiProcessorCount = static_cast<int>(chip.compute_units);
  properties.pciBusID = kFirstPciBus + kPciBusStep * static_cast<int>(device);
  fill_sizes(properties, chip);
  fill_clocks(properties, chip);
  fill_abilities(properties);
  return properties;
}

std::string pci_bus_id(u32 device) {
  return fmt::format("0000:{:02x}:00.0", kFirstPciBus + kPciBusStep * static_cast<int>(device));
}

int device_attribute(hipDeviceAttribute_t attribute, const ChipLimits& chip, u32 device) {
  const hipDeviceProp_tR0600 properties = device_properties(chip, device);
  switch (attribute) {
#define MONOJIT_ATTRIBUTE(name, field) \
  case hipDeviceAttribute##name:       \
    return clamp_to_int(static_cast<u64>(field));
#include "runtime/emulator/hip/attribute_table.inc"
#undef MONOJIT_ATTRIBUTE
    default:
      throw HipError(hipErrorInvalidValue,
                     fmt::format("device attribute {} is not one of an AMD device", static_cast<int>(attribute)));
  }
}

}  // namespace monojit::emulator
