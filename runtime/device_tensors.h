#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/common/workload.h"
#include "runtime/arguments.h"
#include "runtime/hip/buffer.h"

namespace monojit::runtime {

/// Host tensors copied to a device, as the arguments of a launch: a buffer for each pointer, the number itself for each
/// scalar.
class DeviceTensors {
 public:
  /// `tensors` are in the order of the family's argument list. Throws UserError when a scalar's tensor has another
  /// size.
  DeviceTensors(const Device& device, const kernels::Family& family, std::span<const kernels::Tensor> tensors);

  /// In the order of the argument list; a test may replace one, e.g. by an address inside another buffer.
  std::vector<ArgumentValue>& values() { return values_; }
  const DeviceBuffer& buffer(std::size_t argument) const { return buffers_[argument]; }

  /// Makes the arguments those of the next layer's launch. Buffers that are replaced stay alive as long as this object,
  /// as launches on their way may still read them.
  void advance(const kernels::Advance& advance);

  /// `tensors` with the buffers' content of now.
  std::vector<kernels::Tensor> download(std::vector<kernels::Tensor> tensors) const;

 private:
  std::size_t index(std::string_view argument) const;
  void set(std::size_t argument, const kernels::Tensor& tensor);

  Device device_;
  const kernels::Family& family_;
  std::vector<DeviceBuffer> buffers_;  // empty ones for scalars
  std::vector<DeviceBuffer> replaced_;
  std::vector<ArgumentValue> values_;
};

}  // namespace monojit::runtime
