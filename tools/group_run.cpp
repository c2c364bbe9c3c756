#include "tools/group_run.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "kernels/kimi_k3/k2/reference/compare.h"
#include "kernels/kimi_k3/k2/reference/generate.h"
#include "runtime/hip/device_error.h"
#include "tools/group_processes.h"
#include "tools/kimi_group.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

using namespace kernels::kimi_k3;
using Kernels = std::vector<std::shared_ptr<const runtime::LoadedKernel>>;

constexpr const char* kDevicesVariable = "MONOJIT_EMULATOR_DEVICES";

void check_options(const kernels::BuildKey& key, const RunOptions& options) {
  const auto refuse = [&](bool given, const char* option) {
    if (given)
      throw UserError(
          fmt::format("{}: {} runs on a group of devices, which does not take it", option, key.family().name));
  };
  refuse(!options.inputs.empty(), "--inputs");
  refuse(!options.save.empty(), "--save");
  refuse(options.layers > 0, "--layers");
  refuse(options.repeat > 1, "--repeat");
  refuse(!options.trace.empty(), "--trace");
  refuse(options.processes && options.profile.on, "--profile with --processes");
  if (options.device != "auto" && options.device != "emulator") {
    throw UserError(
        fmt::format("--device {}: {} runs on {} devices of the emulator in one process; use --device "
                    "emulator",
                    options.device, key.family().name, kRanks));
  }
}

// Read by the emulator when it starts.
std::shared_ptr<const runtime::HipTable> open_emulator() {
  setenv(kDevicesVariable, std::to_string(kRanks).c_str(), 0);
  return runtime::HipTable::open(runtime::Provider::kEmulator);
}

Kernels prepare(runtime::Jit& jit, const kernels::BuildKey& key, const KimiGroup& group, RunResult& result) {
  runtime::Obtained obtained = jit.get(key, group.device(0).arch());
  const Stopwatch watch;
  Kernels kernels;
  for (std::size_t rank = 0; rank < kRanks; ++rank) kernels.push_back(jit.prepare(key, group.device(rank)));
  result.load_ms = watch.ms() + obtained.times_ms.lookup;
  result.source = obtained.source;
  result.get_ms = obtained.times_ms;
  result.resources = kernels[0]->kernel().record.resources;
  return kernels;
}

void launch(const KimiGroup& group, const kernels::BuildKey& key, const Kernels& kernels, RunResult& result) {
  const Stopwatch watch;
  std::string error;
  try {
    group.launch(kernels);
  } catch (const runtime::DeviceError& failed) {
    error = failed.what();
  }
  result.run_ms = watch.ms();
  const runtime::WatchedLaunch watched{key, group.memory()[0].of<std::int32_t>("layer")[0]};
  std::optional<std::string> health = group.explain({&watched, 1});
  if (error.empty() && !health) {
    result.launches = 1;
    return;
  }
  if (!health) throw std::runtime_error(error);
  result.failure = LaunchFailure{.error = error, .health = *std::move(health)};
}

}  // namespace

bool runs_on_group(const kernels::Family& family) { return family.peer_state != nullptr; }

RunResult run_group(runtime::Jit& jit, const kernels::BuildKey& key, const RunOptions& options) {
  check_options(key, options);
  if (!options.arch.empty()) kernels::validate(key, options.arch);
  if (options.processes) return run_group_in_processes(jit, key, options);
  const auto table = open_emulator();
  const K2Key k2 = k2_key(key);
  const KimiGroup group(table, k2);
  kernels::validate(key, group.device(0).arch());

  RunResult result;
  result.key = key.text();
  result.arch = group.device(0).arch();
  result.device = fmt::format("emulator:0..{}", kRanks - 1);
  result.device_name = runtime::emulator_description(*table);
  result.traits.matrix_model = runtime::emulator_matrix_model(*table);
  const Kernels kernels = prepare(jit, key, group, result);
  generate_group(k2, options.seed, group.memory(), ExpertFill::kPicked);
  if (k2.fault_rank >= 0) group.set_launch(k2.fault_epoch, k2.fault_layer);  // the launch that the key wants to fail
  std::optional<GroupExpectation> expected;
  if (options.verify) {
    expected.emplace(k2, group.memory(), kernels::reference::matrix_model(result.traits.matrix_model));
  }
  ProfiledLaunches profiled(*table, options.profile);
  const auto counts_before = runtime::emulator_counts(*table);
  launch(group, key, kernels, result);
  const auto counts_after = runtime::emulator_counts(*table);
  if (counts_before && counts_after) {
    result.emulator = *counts_after - *counts_before;
    result.emulator->seconds = result.run_ms / 1000;  // its own are the ranks', which ran at the same time
  }
  result.profile = profiled.take();
  if (result.failure || !expected) return result;
  result.outputs = expected->compare(group.memory());
  result.compared = true;
  result.verified = std::ranges::all_of(result.outputs, &kernels::Comparison::ok);
  return result;
}

}  // namespace monojit::tools
