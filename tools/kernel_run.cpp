#include "tools/kernel_run.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "runtime/device_tensors.h"
#include "runtime/hip/stream.h"
#include "tools/output_file.h"
#include "tools/session.h"
#include "tools/tensor_files.h"

namespace monojit::tools {
namespace {

using kernels::Tensor;

/// The inputs of the run: generated, partly replaced, checked.
std::vector<Tensor> make_inputs(const kernels::Workload& workload, const kernels::BuildKey& key, std::string_view arch,
                                const RunOptions& options) {
  std::vector<Tensor> tensors = workload.generate(key, arch, options.seed);
  if (!options.inputs.empty()) replace_tensors(options.inputs, arch, tensors);
  try {
    workload.check(key, arch, tensors);
  } catch (const UserError& error) {
    if (options.inputs.empty()) throw;
    throw UserError(fmt::format("{}: {}", options.inputs, error.what()));
  }
  return tensors;
}

/// Launches once and waits; fills the times and counts of `result`.
void launch(const runtime::LoadedKernel& kernel, std::span<const runtime::ArgumentValue> values, RunResult& result) {
  const runtime::Stream stream(kernel.device());
  const auto before = runtime::emulator_counts(kernel.device().hip());
  const Stopwatch watch;
  kernel.launch(values, stream.get());
  stream.synchronize();
  result.run_ms = watch.ms();
  const auto after = runtime::emulator_counts(kernel.device().hip());
  if (before && after) result.emulator = *after - *before;
}

/// Builds or finds the kernel and loads it; fills what `result` says of that.
std::shared_ptr<const runtime::LoadedKernel> prepare(runtime::Jit& jit, const kernels::BuildKey& key,
                                                     const runtime::Device& device, RunResult& result) {
  runtime::Obtained obtained = jit.get(key, device.arch());
  runtime::Obtained at_load;
  const Stopwatch watch;
  auto kernel = jit.prepare(key, device, &at_load);
  result.load_ms = watch.ms() + obtained.times_ms.lookup;
  if (at_load.source == cache::Source::kBuilt) obtained = std::move(at_load);  // the device refused the first one
  result.source = obtained.source;
  result.get_ms = obtained.times_ms;
  result.resources = kernel->kernel().record.resources;
  return kernel;
}

}  // namespace

RunResult run_kernel(runtime::Jit& jit, const kernels::BuildKey& key, const RunOptions& options) {
  if (!options.save.empty()) check_output_file(options.save);
  if (!options.arch.empty()) kernels::validate(key, options.arch);
  const runtime::Device device = open_device(options.device, options.arch);
  kernels::validate(key, device.arch());
  const kernels::Workload& workload = kernels::workload(key.family());
  const std::vector<Tensor> before = make_inputs(workload, key, device.arch(), options);

  RunResult result;
  result.key = key.text();
  result.arch = device.arch();
  result.device = device.text();
  result.device_name = device.emulated() ? runtime::emulator_description(device.hip())
                                         : fmt::format("{}, {}", device.name(), device.arch());
  if (device.emulated()) result.traits.matrix_model = runtime::emulator_matrix_model(device.hip());
  const auto kernel = prepare(jit, key, device, result);
  runtime::DeviceTensors on_device(device, key.family(), before);
  ProfiledLaunches profiled(device.hip(), options.profile);
  launch(*kernel, on_device.values(), result);
  result.profile = profiled.take();

  const std::vector<Tensor> after = on_device.download(before);
  if (!options.save.empty()) {
    try {
      save_tensors(options.save, device.arch(), before, after);
    } catch (const UserError& error) {  // the run is done: its result is worth having without the file
      result.save_problem = error.what();
    }
  }
  result.outputs = workload.compare(key, device.arch(), result.traits, before, after);
  result.verified = !result.outputs.empty() && std::ranges::all_of(result.outputs, &kernels::Comparison::ok);
  return result;
}

}  // namespace monojit::tools
