#pragma once

#include <memory>
#include <span>

#include "runtime/arguments.h"
#include "runtime/compiled_kernel.h"
#include "runtime/hip/device.h"
#include "runtime/hip/module.h"

namespace monojit::runtime {

/// A kernel ready to be launched on one device.
class LoadedKernel {
 public:
  /// Loads `kernel` on `device`. Throws UserError when the device has another arch, or can't hold all workgroups of a
  /// persistent kernel at once (they wait on each other); CodeObjectError when the code object's arguments aren't those
  /// of the family's list or it is no image of the kernel for that arch; DeviceError when HIP fails.
  LoadedKernel(Device device, std::shared_ptr<const CompiledKernel> kernel);

  const Device& device() const { return device_; }
  const CompiledKernel& kernel() const { return *kernel_; }
  const kernels::Launch& shape() const { return shape_; }
  const ArgumentLayout& arguments() const { return arguments_; }

  /// Puts one launch on `stream`, which belongs to device(). Null is the default stream of the calling thread's device,
  /// which must be this one then (Device::select()). `values` are in the order of the family's argument list. Takes no
  /// lock and allocates nothing. Throws UserError for values that don't fit the list, DeviceError when HIP refuses.
  void launch(std::span<const ArgumentValue> values, hipStream_t stream) const;

 private:
  void check_residency() const;

  Device device_;
  std::shared_ptr<const CompiledKernel> kernel_;
  kernels::Launch shape_;
  ArgumentLayout arguments_;
  Module module_;
  hipFunction_t function_;
};

}  // namespace monojit::runtime
