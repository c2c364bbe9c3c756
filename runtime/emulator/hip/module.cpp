// HIP: modules, functions, launches.
#include <cstring>

#include <fmt/format.h>

#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::Failure;
using monojit::emulator::FailureKind;
using monojit::emulator::guarded;
using monojit::emulator::Kernel;
using monojit::emulator::KernelArgument;
using monojit::emulator::LaunchRequest;
using monojit::emulator::require;
using monojit::emulator::residency;
using monojit::emulator::Runtime;
using monojit::emulator::u32;
using monojit::emulator::u8;

namespace {

/// Bytes of the kernel argument segment that the caller gives; hidden arguments follow.
std::size_t explicit_bytes(const Kernel& kernel) {
  std::size_t bytes = 0;
  for (const KernelArgument& argument : kernel.metadata.arguments) {
    if (!argument.hidden()) bytes = std::max<std::size_t>(bytes, argument.offset + argument.bytes);
  }
  return kernel.metadata.arguments.empty() ? kernel.descriptor.kernarg_bytes : bytes;
}

std::vector<u8> pack_pointers(const Kernel& kernel, void** arguments) {
  std::vector<u8> packed(kernel.descriptor.kernarg_bytes);
  std::size_t index = 0;
  for (const KernelArgument& argument : kernel.metadata.arguments) {
    if (argument.hidden()) continue;
    if (arguments[index] == nullptr) {
      throw Failure(FailureKind::kInvalidValue,
                    fmt::format("launch of {}: argument {} ({}) is a null pointer", kernel.name, index, argument.name));
    }
    if (packed.size() < argument.offset + argument.bytes) packed.resize(argument.offset + argument.bytes);
    std::memcpy(packed.data() + argument.offset, arguments[index++], argument.bytes);
  }
  return packed;
}

std::vector<u8> read_buffer(const Kernel& kernel, void** extra) {
  const void* buffer = nullptr;
  const std::size_t* bytes = nullptr;
  for (void** item = extra; *item != HIP_LAUNCH_PARAM_END; item += 2) {
    if (*item == HIP_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = item[1];
    } else if (*item == HIP_LAUNCH_PARAM_BUFFER_SIZE) {
      bytes = static_cast<const std::size_t*>(item[1]);
    } else {
      throw Failure(FailureKind::kInvalidValue,
                    fmt::format("launch of {}: an item of `extra` is not known", kernel.name));
    }
  }
  if (buffer == nullptr || bytes == nullptr) {
    throw Failure(FailureKind::kInvalidValue,
                  fmt::format("launch of {}: `extra` lacks the argument buffer or its size", kernel.name));
  }
  const std::size_t needed = explicit_bytes(kernel);
  const std::size_t most = std::max<std::size_t>(needed, kernel.descriptor.kernarg_bytes);
  // Callers may pad to the alignment of the segment.
  if (*bytes < needed || *bytes > (most + 15) / 16 * 16) {
    throw Failure(
        FailureKind::kInvalidValue,
        fmt::format("launch of {}: {} bytes of arguments, where the kernel takes {}", kernel.name, *bytes, needed));
  }
  const auto* const first = static_cast<const u8*>(buffer);
  std::vector<u8> packed(first, first + *bytes);
  packed.resize(std::max(packed.size(), most));
  return packed;
}

LaunchRequest make_request(hipFunction_t function, const u32 (&grid)[3], const u32 (&block)[3], u32 dynamic_lds,
                           void** arguments, void** extra) {
  const Kernel& kernel = Runtime::get().kernel_of(function);
  LaunchRequest request;
  request.kernel = &kernel;
  request.grid = {grid[0], grid[1], grid[2]};
  request.block = {block[0], block[1], block[2]};
  request.dynamic_lds = dynamic_lds;
  if (arguments != nullptr && extra != nullptr) {
    throw Failure(FailureKind::kInvalidValue,
                  fmt::format("launch of {}: both kernelParams and extra are given", kernel.name));
  }
  if (extra != nullptr) {
    request.arguments = read_buffer(kernel, extra);
  } else if (arguments != nullptr) {
    request.arguments = pack_pointers(kernel, arguments);
  } else if (explicit_bytes(kernel) > 0) {
    throw Failure(FailureKind::kInvalidValue,
                  fmt::format("launch of {}: the kernel takes arguments and got none", kernel.name));
  }
  return request;
}

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
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      return 0;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return static_cast<int>(Runtime::get().settings().chip.lds_bytes - kernel.descriptor.lds_bytes);
    default:
      throw Failure(FailureKind::kInvalidValue,
                    fmt::format("function attribute {} is not emulated", static_cast<int>(attribute)));
  }
}

}  // namespace

extern "C" {

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return guarded([&] {
    require(module, "module");
    require(image, "image");
    *module = Runtime::get().load(image);
  });
}

hipError_t hipModuleUnload(hipModule_t module) {
  return guarded([&] { Runtime::get().unload(module); });
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  return guarded([&] {
    require(function, "function");
    require(name, "name");
    *function = Runtime::get().function(module, name);
  });
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t* pointer, std::size_t* bytes, hipModule_t module, const char* name) {
  return guarded([&] {
    require(name, "name");
    const auto [address, size] = Runtime::get().module_of(module).variable(name);
    if (address == nullptr)
      throw Failure(FailureKind::kNotFound, fmt::format("no variable {} in the code object", name));
    if (pointer != nullptr) *pointer = address;
    if (bytes != nullptr) *bytes = size;
  });
}

hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t function) {
  return guarded([&] {
    require(value, "value");
    *value = function_attribute(Runtime::get().kernel_of(function), attribute);
  });
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function, int block_size,
                                                              std::size_t dynamic_lds) {
  return guarded([&] {
    require(blocks, "blocks");
    const Kernel& kernel = Runtime::get().kernel_of(function);
    if (block_size <= 0) throw Failure(FailureKind::kInvalidValue, fmt::format("block size {}", block_size));
    *blocks = static_cast<int>(residency(kernel.descriptor, static_cast<u32>(block_size),
                                         kernel.descriptor.lds_bytes + static_cast<u32>(dynamic_lds),
                                         Runtime::get().settings().chip)
                                   .workgroups_per_cu);
  });
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                 unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                 unsigned int dynamic_lds, hipStream_t stream, void** arguments, void** extra) {
  return guarded([&] {
    Runtime::get().launch(
        make_request(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_lds, arguments, extra),
        stream);
  });
}

hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y,
                                            unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                            unsigned int block_z, unsigned int dynamic_lds, hipStream_t stream,
                                            void** arguments) {
  return guarded([&] {
    LaunchRequest request =
        make_request(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_lds, arguments, nullptr);
    request.cooperative = true;
    Runtime::get().launch(std::move(request), stream);
  });
}

}  // extern "C"
