#include "runtime/emulator/hip/kernel_arguments.h"

#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "runtime/emulator/hip/runtime.h"

namespace monojit::emulator {
namespace {

[[noreturn]] void refuse(const Kernel& kernel, const std::string& why) {
  throw Failure(FailureKind::kInvalidValue, fmt::format("launch of {}: {}", kernel.name, why));
}

std::vector<u8> pack_pointers(const Kernel& kernel, void** arguments) {
  if (kernel.metadata.arguments.empty() && kernel.descriptor.kernarg_bytes > 0) {
    refuse(kernel, fmt::format("its code object does not tell its arguments: pass their {} bytes packed, in `extra`",
                               kernel.descriptor.kernarg_bytes));
  }
  std::vector<u8> packed(kernel.descriptor.kernarg_bytes);
  std::size_t index = 0;
  for (const KernelArgument& argument : kernel.metadata.arguments) {
    if (argument.hidden()) continue;
    if (arguments[index] == nullptr)
      refuse(kernel, fmt::format("argument {} ({}) is a null pointer", index, argument.name));
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
      refuse(kernel, "an item of `extra` is not known");
    }
  }
  const std::size_t needed = explicit_argument_bytes(kernel);
  if (needed == 0 && (bytes == nullptr || *bytes == 0)) return {};
  if (buffer == nullptr || bytes == nullptr) refuse(kernel, "`extra` lacks the argument buffer or its size");
  const std::size_t most = std::max<std::size_t>(needed, kernel.descriptor.kernarg_bytes);
  // Callers may pad to the alignment of the segment.
  if (*bytes < needed || *bytes > (most + 15) / 16 * 16)
    refuse(kernel, fmt::format("{} bytes of arguments, where the kernel takes {}", *bytes, needed));
  const auto* const first = static_cast<const u8*>(buffer);
  std::vector<u8> packed(first, first + *bytes);
  packed.resize(std::max(packed.size(), most));
  return packed;
}

}  // namespace

std::size_t explicit_argument_bytes(const Kernel& kernel) {
  std::size_t bytes = 0;
  for (const KernelArgument& argument : kernel.metadata.arguments) {
    if (!argument.hidden()) bytes = std::max<std::size_t>(bytes, argument.offset + argument.bytes);
  }
  return kernel.metadata.arguments.empty() ? kernel.descriptor.kernarg_bytes : bytes;
}

KernelWork kernel_work(hipFunction_t function, const LaunchShape& shape, void** arguments, void** extra,
                       bool cooperative) {
  Runtime& runtime = Runtime::get();
  const Kernel& kernel = runtime.kernel_of(function);
  if (arguments != nullptr && extra != nullptr) refuse(kernel, "both kernelParams and extra are given");
  if (shape.dynamic_lds > std::numeric_limits<u32>::max())
    refuse(kernel, fmt::format("{} bytes of dynamic LDS", shape.dynamic_lds));
  KernelWork work;
  work.function = function;
  work.request.kernel = &kernel;
  work.request.grid = shape.grid;
  work.request.block = shape.block;
  work.request.dynamic_lds = static_cast<u32>(shape.dynamic_lds);
  work.request.cooperative = cooperative;
  if (extra != nullptr) {
    work.request.arguments = read_buffer(kernel, extra);
  } else if (explicit_argument_bytes(kernel) > 0) {
    if (arguments == nullptr) refuse(kernel, "the kernel takes arguments and got none");
    work.request.arguments = pack_pointers(kernel, arguments);
  }
  check_launch(work.request, runtime.settings().chip);
  return work;
}

}  // namespace monojit::emulator
