#include "tools/kernel_run.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "tools/output_file.h"
#include "tools/saved_run.h"
#include "tools/session.h"
#include "tools/tensor_files.h"
#include "tools/timeline_trace.h"

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

/// Adds launches to the result; whether the next ones may follow.
bool take(const LaunchResult& launches, int count, std::optional<LaunchFailure> failure, RunResult& result) {
  result.run_ms += launches.run_ms;
  if (failure) {
    result.failure = std::move(failure);
    result.failed_place = place_text(launches.place);
    return false;
  }
  result.launches += count;
  return true;
}

/// All launches that the options ask for, up to one that fails.
void run_launches(LaunchChain& chain, const RunOptions& options, RunResult& result) {
  const int layers = std::max(options.layers, 1);
  int unseen = layers * options.repeat;
  if (options.verify) {
    result.compared = true;
    for (int i = 0; i < layers; ++i, --unseen) {
      LaunchResult layer;
      auto failure = chain.launch(result.traits, layer);
      if (!take(layer, 1, std::move(failure), result)) return;
      merge(layer.outputs, result.outputs);
      result.layers.push_back(std::move(layer));
    }
    result.verified = !result.outputs.empty() && std::ranges::all_of(result.outputs, &kernels::Comparison::ok);
  }
  if (unseen == 0) return;
  LaunchResult rest;
  auto failure = chain.launch_back_to_back(unseen, rest);
  if (!take(rest, unseen, std::move(failure), result)) result.verified = false;
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

void check_files(const RunOptions& options) {
  CommandFiles files;
  files.writes(options.save, "--save");
  files.reads(options.inputs);
  files.writes(options.trace, "--trace");
  files.writes(options.profile.file, "--profile");
}

RunResult run_kernel(runtime::Jit& jit, const kernels::BuildKey& key, const RunOptions& options) {
  check_files(options);
  TimelineTrace trace(key, options.trace);
  if (!options.arch.empty()) kernels::validate(key, options.arch);
  const runtime::Device device = open_device(options.device, options.arch);
  kernels::validate(key, device.arch());
  const kernels::Workload& workload = kernels::workload(key.family());
  std::vector<Tensor> tensors = make_inputs(workload, key, device.arch(), options);
  if (std::max(options.layers, 1) * options.repeat > 1)
    (void)workload.advance(key, tensors);  // refused before anything is built
  const std::vector<Tensor> before = options.save.empty() ? std::vector<Tensor>() : tensors;

  RunResult result;
  result.key = key.text();
  result.arch = device.arch();
  result.device = device.text();
  result.device_name = device.emulated() ? runtime::emulator_description(device.hip())
                                         : fmt::format("{}, {}", device.name(), device.arch());
  if (device.emulated()) result.traits.matrix_model = runtime::emulator_matrix_model(device.hip());
  const auto kernel = prepare(jit, key, device, result);
  result.weight_bytes = workload.weight_bytes(key, tensors);
  LaunchChain chain(*kernel, workload, std::move(tensors), trace);
  ProfiledLaunches profiled(device.hip(), options.profile);
  const runtime::EmulatorCounter counter(device.hip());
  run_launches(chain, options, result);
  result.emulator = counter.counts();
  result.profile = profiled.take();
  trace.write(result.device);
  if (result.failure) {
    if (result.failure->health.empty()) throw std::runtime_error(result.failure->error);
    return result;
  }
  if (!options.save.empty()) {
    try {
      save_tensors(options.save, device.arch(), before, chain.download(), run_metadata(result.key, options, 1));
    } catch (const UserError& error) {  // the run is done: its result is worth having without the file
      result.save_problem = error.what();
    }
  }
  return result;
}

}  // namespace monojit::tools
