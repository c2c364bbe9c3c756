#include "runtime/device_tensors.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace monojit::runtime {
namespace {

template <class T>
T scalar(const kernels::Tensor& tensor) {
  if (tensor.bytes.size() != sizeof(T)) {
    throw UserError(fmt::format("argument '{}' is one number, not {} bytes", tensor.name, tensor.bytes.size()));
  }
  T value;
  std::memcpy(&value, tensor.bytes.data(), sizeof value);
  return value;
}

ArgumentValue scalar_argument(kernels::ArgumentType type, const kernels::Tensor& tensor) {
  if (type == kernels::ArgumentType::kInt32) return scalar<std::int32_t>(tensor);
  if (type == kernels::ArgumentType::kInt64) return scalar<std::int64_t>(tensor);
  return scalar<float>(tensor);
}

}  // namespace

DeviceTensors::DeviceTensors(const Device& device, const kernels::Family& family,
                             std::span<const kernels::Tensor> tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool pointer = family.arguments[i].type == kernels::ArgumentType::kPointer;
    buffers_.push_back(pointer ? DeviceBuffer(device, tensors[i].bytes) : DeviceBuffer());
    values_.push_back(pointer ? ArgumentValue(buffers_.back().address())
                              : scalar_argument(family.arguments[i].type, tensors[i]));
  }
}

std::vector<kernels::Tensor> DeviceTensors::download(std::vector<kernels::Tensor> tensors) const {
  for (std::size_t i = 0; i < tensors.size(); ++i) buffers_[i].download(tensors[i].bytes);
  return tensors;
}

}  // namespace monojit::runtime
