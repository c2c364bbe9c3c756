#include "runtime/device_tensors.h"

#include <algorithm>
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
                             std::span<const kernels::Tensor> tensors)
    : device_(device), family_(family) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool pointer = family.arguments[i].type == kernels::ArgumentType::kPointer;
    buffers_.push_back(pointer ? DeviceBuffer(device, tensors[i].bytes) : DeviceBuffer());
    values_.push_back(pointer ? ArgumentValue(buffers_.back().address())
                              : scalar_argument(family.arguments[i].type, tensors[i]));
  }
}

std::size_t DeviceTensors::index(std::string_view argument) const {
  const auto found = std::ranges::find(family_.arguments, argument, &kernels::Argument::name);
  if (found == family_.arguments.end()) {
    throw UserError(fmt::format("{} has no argument '{}'", family_.name, argument));
  }
  return static_cast<std::size_t>(found - family_.arguments.begin());
}

void DeviceTensors::set(std::size_t argument, const kernels::Tensor& tensor) {
  const kernels::ArgumentType type = family_.arguments[argument].type;
  if (type != kernels::ArgumentType::kPointer) {
    values_[argument] = scalar_argument(type, tensor);
    return;
  }
  DeviceBuffer fresh(device_, tensor.bytes);
  values_[argument] = fresh.address();
  replaced_.push_back(std::exchange(buffers_[argument], std::move(fresh)));
}

void DeviceTensors::advance(const kernels::Advance& advance) {
  for (const auto& [first, second] : advance.swaps) {
    std::swap(buffers_[index(first)], buffers_[index(second)]);
    std::swap(values_[index(first)], values_[index(second)]);
  }
  for (const kernels::Tensor& change : advance.changes) set(index(change.name), change);
}

std::vector<kernels::Tensor> DeviceTensors::download(std::vector<kernels::Tensor> tensors) const {
  for (std::size_t i = 0; i < tensors.size(); ++i) buffers_[i].download(tensors[i].bytes);
  return tensors;
}

}  // namespace monojit::runtime
