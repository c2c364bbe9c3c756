#pragma once

#include <vector>

#include "kernels/common/workload.h"
#include "runtime/device_tensors.h"
#include "runtime/loaded_kernel.h"

namespace monojit::tests {

/// The device of these tests: an AMD GPU where there is one, else the emulator (chip by MONOJIT_EMULATOR_CHIP).
const runtime::Device& device();

/// Its model of the matrix core.
kernels::DeviceTraits device_traits();

/// The kernel of `key`, built once a process and loaded on device().
const runtime::LoadedKernel& loaded(const kernels::BuildKey& key);

/// Launches on data that is already there, and waits.
void launch(const runtime::LoadedKernel& kernel, runtime::DeviceTensors& tensors);

/// All tensors after one launch on a copy of `before`.
std::vector<kernels::Tensor> launched(const kernels::BuildKey& key, const std::vector<kernels::Tensor>& before);

}  // namespace monojit::tests
