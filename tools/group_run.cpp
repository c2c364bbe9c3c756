#include "tools/group_run.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "environment/variables.h"
#include "kernels/kimi_k3/k2/reference/addresses.h"
#include "kernels/kimi_k3/k2/reference/check.h"
#include "kernels/kimi_k3/k2/reference/generate.h"
#include "tools/group_chain.h"
#include "tools/group_processes.h"
#include "tools/group_tensors.h"
#include "tools/interruptible.h"
#include "tools/kimi_group.h"
#include "tools/progress_clock.h"
#include "tools/report.h"
#include "tools/saved_run.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

using namespace kernels::kimi_k3;

constexpr const char* kDevicesVariable = environment::name(environment::Id::kEmulatorDevices);

void check_options(const kernels::BuildKey& key, const RunOptions& options) {
  const auto refuse = [&](bool given, const char* option) {
    if (given && options.processes)
      throw UserError(fmt::format("{} with --processes: a process a rank makes one launch of seeded data", option));
  };
  refuse(!options.inputs.empty(), "--inputs");
  refuse(!options.save.empty(), "--save");
  refuse(options.layers > 0, "--layers");
  refuse(options.repeat > 1, "--repeat");
  refuse(!options.trace.empty(), "--trace");
  refuse(options.profile.on, "--profile");
  const int ranks = key.family().peer_state(key).ranks;
  if (options.ranks != 0 && options.ranks != ranks) {
    throw UserError(fmt::format("--ranks {}: {} runs on {} ranks", options.ranks, key.family().name, ranks));
  }
  if (options.device != "auto" && options.device != "emulator") {
    throw UserError(
        fmt::format("--device {}: {} runs on {} devices of the emulator in one process; use --device "
                    "emulator",
                    options.device, key.family().name, kRanks));
  }
}

std::shared_ptr<const runtime::HipTable> open_emulator() {
  reserve_group_devices();
  return runtime::HipTable::open(runtime::Provider::kEmulator);
}

/// Generated tensors, partly replaced. Returns those that were given, as "rank3/core".
std::set<std::string> fill(const K2Key& key, const RunOptions& options, const GroupMemory& memory) {
  for (int rank = 0; rank < kRanks; ++rank) {
    for (const TensorView& tensor : memory[static_cast<std::size_t>(rank)].views())
      generate_tensor(key, options.seed, rank, tensor);
  }
  return options.inputs.empty() ? std::set<std::string>() : replace_group_tensors(options.inputs, memory);
}

/// The layer that a file names is a chain's first one.
std::vector<PlannedLaunch> plan(const kernels::BuildKey& key, const RunOptions& options, const GroupMemory& memory,
                                const std::set<std::string>& given) {
  const K2Key k2 = k2_key(key);
  if (options.layers > 0) {
    std::optional<std::int32_t> first;
    for (int rank = kRanks - 1; rank >= 0; --rank) {
      if (given.contains(fmt::format("rank{}/layer", rank)))
        first = memory[static_cast<std::size_t>(rank)].of<std::int32_t>("layer")[0];
    }
    return plan_layers(k2, options.layers, first);
  }
  const std::int32_t slot = k2.fault_rank >= 0 ? k2.fault_layer : memory[0].of<std::int32_t>("layer")[0];
  return {PlannedLaunch{.key = k2, .build = key, .slot = slot}};
}

/// Refuses a file whose epoch or layer a fault would replace by those that `launch`, the first one, has to have.
void check_fault(const RunOptions& options, const GroupMemory& memory, const std::set<std::string>& given,
                 const PlannedLaunch& launch, std::int32_t epoch) {
  if (k2_key(launch.build).fault_rank < 0) return;
  for (int rank = 0; rank < kRanks; ++rank) {
    for (const auto& [name, wanted] : {std::pair("epoch", epoch), std::pair("layer", launch.slot)}) {
      const std::int32_t value = memory[static_cast<std::size_t>(rank)].of<std::int32_t>(name)[0];
      if (value == wanted || !given.contains(fmt::format("rank{}/{}", rank, name))) continue;
      throw UserError(
          fmt::format("{}: `{}` of rank {} is {}, but the run begins with {} {}; a fault in another epoch or layer "
                      "begins elsewhere",
                      options.inputs, name, rank, value, name, wanted));
    }
  }
}

/// Whether the next launches may follow.
bool take(std::optional<LaunchFailure> failure, const std::vector<std::pair<std::string, std::int64_t>>& place,
          RunResult& result) {
  if (!failure) return true;
  result.verified = false;
  result.failure = std::move(failure);
  result.failed_place = place_text(place);
  return false;
}

void add_outputs(const std::vector<kernels::Comparison>& outputs, RunResult& result) {
  merge(outputs, result.outputs);
  result.verified = std::ranges::all_of(result.outputs, &kernels::Comparison::ok);
}

std::string launches_text(const RunResult& result, std::int64_t all) {
  const auto verdict = [&] {
    if (result.outputs.empty()) return "not compared";
    return result.verified ? "all that they left equals the reference" : "what some of them left is wrong";
  };
  return fmt::format("{} of {} launches: {}", result.launches, all, verdict());
}

/// The plan once, launch by launch; whether all were made and ended well.
bool run_once(GroupChain& chain, int launches, const RunOptions& options, RunResult& result) {
  ProgressClock clock;
  for (int i = 0; i < launches; ++i) {
    if (Interruptible::interrupted()) return false;
    LaunchResult launch;
    auto failure = chain.launch(static_cast<std::size_t>(i), options.verify, launch);
    result.run_ms += launch.run_ms;
    if (!take(std::move(failure), launch.place, result)) return false;
    ++result.launches;
    if (options.verify) {
      add_outputs(launch.outputs, result);
      result.layers.push_back(std::move(launch));
    }
    if (clock.is_due()) say(launches_text(result, std::int64_t{launches} * options.repeat));
  }
  chain.begin_again();
  return true;
}

/// The plan `times` times as captured steps; whether all ended well and right.
bool run_replays(GroupChain& chain, int launches, int times, bool verify, RunResult& result) {
  ReplayResult& replays = result.replays.emplace();
  auto failure = chain.replay(times, verify, replays);
  result.run_ms += replays.run_ms;
  result.launches += launches * replays.count;
  if (!take(std::move(failure), replays.place, result)) return false;
  if (!verify) return true;
  add_outputs(replays.outputs, result);
  if (!replays.difference.empty()) say(replays.difference);
  return replays.difference.empty();
}

/// The first time and the last one launch by launch, what lies between as captured steps.
void run_launches(GroupChain& chain, int launches, const RunOptions& options, RunResult& result) {
  result.compared = options.verify;
  if (!run_once(chain, launches, options, result) || options.repeat == 1) return;
  if (options.repeat > 2 && !run_replays(chain, launches, options.repeat - 2, options.verify, result)) return;
  run_once(chain, launches, options, result);
}

/// The same, but a signal ends it behind the launches that are on their way.
void run_until_interrupted(GroupChain& chain, int launches, const RunOptions& options, RunResult& result) {
  const Interruptible interruptible(
      "monojit: interrupted: ends behind the launches that are on their way; another signal ends it at once\n");
  run_launches(chain, launches, options, result);
  const auto all = std::int64_t{launches} * options.repeat;
  result.interrupted = Interruptible::interrupted() && !result.failure && result.launches < all &&
                       (!result.replays || result.replays->difference.empty());
  if (!result.interrupted) return;
  say("interrupted behind " + launches_text(result, all));
  if (result.replays && result.replays->count > 0) say(progress_text(*result.replays, options.repeat - 2));
  result.compared = !result.outputs.empty();
  if (!options.save.empty())
    result.save_problem = fmt::format("{} is not written: the last launch was not made", options.save);
}

void prepare(runtime::Jit& jit, const kernels::BuildKey& key, const std::string& arch, GroupChain& chain,
             RunResult& result) {
  const runtime::Obtained obtained = jit.get(key, arch);
  const Stopwatch watch;
  chain.prepare();
  result.load_ms = watch.ms() + obtained.times_ms.lookup;
  result.source = obtained.source;
  result.get_ms = obtained.times_ms;
  result.resources = chain.first_kernel().kernel().record.resources;
}

void save(const RunOptions& options, std::vector<FileTensor> before, const GroupMemory& memory, RunResult& result) {
  try {
    save_group_tensors(options.save, std::move(before), memory, run_metadata(result.key, options, kRanks));
  } catch (const UserError& error) {  // the run is done: its result is worth having without the file
    result.save_problem = error.what();
  }
}

RunResult result_of(const kernels::BuildKey& key, const runtime::HipTable& table, const KimiGroup& group) {
  RunResult result;
  result.key = key.text();
  result.arch = group.device(0).arch();
  result.device = fmt::format("emulator:0..{}", kRanks - 1);
  result.device_name = runtime::emulator_description(table);
  result.traits.matrix_model = runtime::emulator_matrix_model(table);
  return result;
}

}  // namespace

bool runs_on_group(const kernels::Family& family) { return family.peer_state != nullptr; }

// Read by the emulator when it starts.
void reserve_group_devices() { setenv(kDevicesVariable, std::to_string(kRanks).c_str(), 0); }

RunResult run_group(runtime::Jit& jit, const kernels::BuildKey& family_key, const RunOptions& options) {
  const PlannedFault fault = options.fault.empty()
                                 ? PlannedFault{.key = family_key}
                                 : planned_fault(family_key, options.fault, options.layers, options.repeat);
  const kernels::BuildKey& key = fault.key;
  check_options(key, options);
  check_files(options);
  TimelineTrace trace(key, options.trace, kRanks);
  if (!options.arch.empty()) kernels::validate(key, options.arch);
  if (options.processes) return run_group_in_processes(jit, key, options);
  const auto table = open_emulator();
  const K2Key k2 = k2_key(key);
  KimiGroup group(table, k2);
  kernels::validate(key, group.device(0).arch());

  RunResult result = result_of(key, *table, group);
  const std::set<std::string> given = fill(k2, options, group.memory());
  const std::vector<PlannedLaunch> launches = plan(key, options, group.memory(), given);
  std::int32_t epoch = group.memory()[0].of<std::int32_t>("epoch")[0];
  if (k2.fault_rank >= 0) epoch = epoch_of_fault(launches, fault.time);
  check_fault(options, group.memory(), given, launches.front(), epoch);
  if (k2.fault_rank >= 0) group.set_launch(epoch, launches.front().slot);
  if (!options.inputs.empty()) check_group(launches.front().key, group.memory());
  GroupChain chain(jit, group, launches, options.seed, kernels::reference::matrix_model(result.traits.matrix_model),
                   trace);
  prepare(jit, launches.front().build, result.arch, chain, result);
  result.weight_bytes = least_weight_bytes(chain.begin(epoch, given));
  std::vector<FileTensor> before;
  if (!options.save.empty()) before = tensors_before(group.memory());

  ProfiledLaunches profiled(*table, options.profile);
  const runtime::EmulatorCounter counter(*table);
  const auto run = options.interruptible ? run_until_interrupted : run_launches;
  run(chain, static_cast<int>(launches.size()), options, result);
  result.emulator = counter.counts();
  if (result.emulator) result.emulator->seconds = result.run_ms / 1000;  // its own are the ranks', at the same time
  result.profile = profiled.take();
  trace.write(result.device);
  if (result.failure && result.failure->health.empty()) throw std::runtime_error(result.failure->error);
  if (!options.save.empty() && !result.interrupted) save(options, std::move(before), group.memory(), result);
  return result;
}

}  // namespace monojit::tools
