// HIP: what a kernel needs, and how many of its workgroups fit.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/emulator/hip/runtime.h"
#include "runtime/emulator/schedule/placement.h"

using monojit::emulator::ChipLimits;
using monojit::emulator::guarded;
using monojit::emulator::Kernel;
using monojit::emulator::refuse_value;
using monojit::emulator::require;
using monojit::emulator::residency;
using monojit::emulator::Runtime;
using monojit::emulator::u32;

namespace {

constexpr u32 kWave = 64;
constexpr u32 kMostWorkItems = 1024;

const ChipLimits& chip() { return Runtime::get().settings().chip; }

/// A function given as the address of a host stub or as a handle. Host stubs are registered by hipcc's start-up code
/// with the library that a program was linked to, so here it is a handle.
const Kernel& kernel_at(const void* function) {
  require(function, "function");
  return Runtime::get().kernel_of(static_cast<hipFunction_t>(const_cast<void*>(function)));
}

int most_dynamic_lds(const Kernel& kernel) { return static_cast<int>(chip().lds_bytes - kernel.descriptor.lds_bytes); }

int function_attribute(const Kernel& kernel, hipFunction_attribute attribute) {
  switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return static_cast<int>(kernel.metadata.max_workgroup);
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(kernel.descriptor.lds_bytes);
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(kernel.descriptor.scratch_bytes);
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
      return static_cast<int>(kernel.descriptor.vgprs + kernel.descriptor.agprs);
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return 0;
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
      return 30;  // what HIP answers for every AMD chip
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return most_dynamic_lds(kernel);
    default:
      refuse_value(fmt::format("function attribute {} is not emulated", static_cast<int>(attribute)));
  }
}

u32 workgroups_per_cu(const Kernel& kernel, u32 work_items, std::size_t dynamic_lds) {
  const std::size_t lds = kernel.descriptor.lds_bytes + dynamic_lds;
  if (lds > chip().lds_bytes) return 0;
  return residency(kernel.descriptor, work_items, static_cast<u32>(lds), chip()).workgroups_per_cu;
}

void active_blocks(int* blocks, const Kernel& kernel, int block_size, std::size_t dynamic_lds) {
  require(blocks, "blocks");
  if (block_size <= 0) refuse_value(fmt::format("block size {}", block_size));
  *blocks = static_cast<u32>(block_size) > kMostWorkItems
                ? 0
                : static_cast<int>(workgroups_per_cu(kernel, static_cast<u32>(block_size), dynamic_lds));
}

/// The block that keeps most waves resident; of equals the largest.
void potential_block(int* grid_size, int* block_size, const Kernel& kernel, std::size_t dynamic_lds, int limit) {
  require(grid_size, "gridSize");
  require(block_size, "blockSize");
  u32 most = std::min(kMostWorkItems, kernel.metadata.max_workgroup);
  if (limit > 0) most = std::min(most, static_cast<u32>(limit));
  u32 best_block = 0, best_count = 0;
  for (u32 block = std::min(kWave, most); block <= most; block += kWave) {
    const u32 count = workgroups_per_cu(kernel, block, dynamic_lds);
    if (count > 0 && count * block >= best_count * best_block) best_block = block, best_count = count;
  }
  if (best_count == 0)
    refuse_value(fmt::format("kernel {}: no block size of up to {} work-items fits a compute unit", kernel.name, most));
  *grid_size = static_cast<int>(best_count * chip().compute_units);
  *block_size = static_cast<int>(best_block);
}

void check_occupancy_flags(unsigned int flags) {
  if (flags > hipOccupancyDisableCachingOverride) refuse_value(fmt::format("occupancy flags {:#x}", flags));
}

}  // namespace

extern "C" {

hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t function) {
  return guarded([&] {
    require(value, "value");
    *value = function_attribute(kernel_at(function), attribute);
  });
}

hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* function) {
  return guarded([&] {
    require(attributes, "attributes");
    const Kernel& kernel = kernel_at(function);
    const auto value = [&](hipFunction_attribute attribute) { return function_attribute(kernel, attribute); };
    *attributes = {};
    attributes->binaryVersion = value(HIP_FUNC_ATTRIBUTE_BINARY_VERSION);
    attributes->ptxVersion = value(HIP_FUNC_ATTRIBUTE_PTX_VERSION);
    attributes->localSizeBytes = static_cast<std::size_t>(value(HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
    attributes->sharedSizeBytes = static_cast<std::size_t>(value(HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    attributes->maxDynamicSharedSizeBytes = value(HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    attributes->maxThreadsPerBlock = value(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    attributes->numRegs = value(HIP_FUNC_ATTRIBUTE_NUM_REGS);
  });
}

hipError_t hipFuncSetAttribute(const void* function, hipFuncAttribute attribute, int value) {
  return guarded([&] {
    const Kernel& kernel = kernel_at(function);
    if (attribute == hipFuncAttributeMaxDynamicSharedMemorySize) {
      if (value < 0 || value > most_dynamic_lds(kernel)) {
        refuse_value(fmt::format("kernel {}: {} bytes of dynamic LDS, where {} has {} left beside the static ones",
                                 kernel.name, value, chip().arch, most_dynamic_lds(kernel)));
      }
    } else if (attribute != hipFuncAttributePreferredSharedMemoryCarveout) {
      refuse_value(fmt::format("function attribute {} can't be set", static_cast<int>(attribute)));
    }
  });
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function, int block_size,
                                                              std::size_t dynamic_lds) {
  return guarded([&] { active_blocks(blocks, kernel_at(function), block_size, dynamic_lds); });
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, hipFunction_t function,
                                                                       int block_size, std::size_t dynamic_lds,
                                                                       unsigned int flags) {
  return guarded([&] {
    check_occupancy_flags(flags);
    active_blocks(blocks, kernel_at(function), block_size, dynamic_lds);
  });
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int block_size,
                                                        std::size_t dynamic_lds) {
  return guarded([&] { active_blocks(blocks, kernel_at(function), block_size, dynamic_lds); });
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int block_size,
                                                                 std::size_t dynamic_lds, unsigned int flags) {
  return guarded([&] {
    check_occupancy_flags(flags);
    active_blocks(blocks, kernel_at(function), block_size, dynamic_lds);
  });
}

hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, hipFunction_t function,
                                                   std::size_t dynamic_lds, int limit) {
  return guarded([&] { potential_block(grid_size, block_size, kernel_at(function), dynamic_lds, limit); });
}

hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int* grid_size, int* block_size, hipFunction_t function,
                                                            std::size_t dynamic_lds, int limit, unsigned int flags) {
  return guarded([&] {
    check_occupancy_flags(flags);
    potential_block(grid_size, block_size, kernel_at(function), dynamic_lds, limit);
  });
}

hipError_t hipOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, const void* function,
                                             std::size_t dynamic_lds, int limit) {
  return guarded([&] { potential_block(grid_size, block_size, kernel_at(function), dynamic_lds, limit); });
}

hipError_t hipOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function, int blocks,
                                                    int block_size) {
  return guarded([&] {
    require(bytes, "bytes");
    const Kernel& kernel = kernel_at(function);
    if (blocks <= 0 || block_size <= 0) refuse_value(fmt::format("{} blocks of {} work-items", blocks, block_size));
    const u32 share = chip().lds_bytes / static_cast<u32>(blocks) / chip().lds_granule * chip().lds_granule;
    *bytes = share > kernel.descriptor.lds_bytes ? share - kernel.descriptor.lds_bytes : 0;
  });
}

}  // extern "C"
