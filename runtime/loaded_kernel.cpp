#include "runtime/loaded_kernel.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "runtime/entry_check.h"

namespace monojit::runtime {
namespace {

/// `kernel`, if it was built for the device's arch.
std::shared_ptr<const CompiledKernel> matching(std::shared_ptr<const CompiledKernel> kernel, const Device& device) {
  if (kernel->arch == device.arch()) return kernel;
  throw UserError(
      fmt::format("{} was built for {}, but {} is a {}: choose a device of that arch, or build for this one",
                  kernel->key.text(), kernel->arch, device.text(), device.arch()));
}

std::span<const std::byte> image_of(const CompiledKernel& kernel) {
  try {
    check_loadable(kernel.key, kernel.arch, kernel.record, *kernel.code_object);
  } catch (const CodeObjectError& error) {
    throw CodeObjectError(fmt::format("{} for {}: {}", kernel.key.text(), kernel.arch, error.what()));
  }
  return *kernel.code_object;
}

}  // namespace

LoadedKernel::LoadedKernel(Device device, std::shared_ptr<const CompiledKernel> kernel)
    : device_(std::move(device)),
      kernel_(matching(std::move(kernel), device_)),
      shape_(kernel_->key.family().launch(kernel_->key)),
      arguments_(kernel_->key.family(), kernel_->record),
      module_(device_, image_of(*kernel_)),
      function_(module_.function(kernel_->record.symbol)) {
  if (shape_.persistent) check_residency();
}

void LoadedKernel::check_residency() const {
  const HipTable& hip = device_.hip();
  int per_unit = 0;
  hip.check(hip.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, function_,
                                                                   static_cast<int>(shape_.workgroup_size), 0),
            "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor");
  const std::int64_t resident = std::int64_t{per_unit} * device_.compute_units();
  if (resident >= shape_.workgroups) return;
  throw UserError(
      fmt::format("{} can't run on {} ({}): its {} workgroups of {} threads wait on each other, but only {} are "
                  "resident at once ({} a CU, {} CUs)",
                  kernel_->key.text(), device_.text(), device_.arch(), shape_.workgroups, shape_.workgroup_size,
                  resident, per_unit, device_.compute_units()));
}

void LoadedKernel::launch(std::span<const ArgumentValue> values, hipStream_t stream) const {
  ArgumentLayout::Packed packed;
  arguments_.pack(values, packed);
  std::size_t bytes = arguments_.bytes();
  // HIP copies the buffer during the call.
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, packed.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  const HipTable& hip = device_.hip();
  hip.check(hip.hipModuleLaunchKernel(function_, shape_.workgroups, 1, 1, shape_.workgroup_size, 1, 1, 0, stream,
                                      nullptr, extra),
            "hipModuleLaunchKernel");
}

}  // namespace monojit::runtime
