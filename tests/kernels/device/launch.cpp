#include "tests/kernels/device/launch.h"

#include "runtime/hip/emulator_extras.h"
#include "runtime/hip/stream.h"
#include "runtime/jit.h"

namespace monojit::tests {

const runtime::Device& device() {
  static const runtime::Device device = runtime::Device::open("auto", [](std::string_view) {});
  return device;
}

kernels::DeviceTraits device_traits() {
  kernels::DeviceTraits traits;
  if (device().emulated()) traits.matrix_model = runtime::emulator_matrix_model(device().hip());
  return traits;
}

const runtime::LoadedKernel& loaded(const kernels::BuildKey& key) {
  static runtime::Jit jit({});  // no folder: what is tested is what these sources emit
  static std::vector<std::shared_ptr<const runtime::LoadedKernel>> keep;
  keep.push_back(jit.prepare(key, device()));
  return *keep.back();
}

void launch(const runtime::LoadedKernel& kernel, runtime::DeviceTensors& tensors) {
  const runtime::Stream stream(device());
  kernel.launch(tensors.values(), stream.get());
  stream.synchronize();
}

std::vector<kernels::Tensor> launched(const kernels::BuildKey& key, const std::vector<kernels::Tensor>& before) {
  runtime::DeviceTensors tensors(device(), key.family(), before);
  launch(loaded(key), tensors);
  return tensors.download(before);
}

}  // namespace monojit::tests
