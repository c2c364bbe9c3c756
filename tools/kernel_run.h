#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/common/workload.h"
#include "runtime/hip/emulator_extras.h"
#include "runtime/jit.h"
#include "tools/launch_chain.h"
#include "tools/profile_report.h"
#include "tools/replay_result.h"
#include "tools/report.h"

/// One kernel from key to verified outputs.
namespace monojit::tools {

struct RunOptions {
  std::string device = "auto";
  std::string arch;  ///< empty: the device's
  std::uint64_t seed = 1;
  std::string inputs;  ///< safetensors file that replaces generated tensors; empty: none
  std::string save;    ///< safetensors file to write; empty: none
  int layers = 0;      ///< launches, one layer after the other; 0: a launch that is no part of a chain
  int repeat = 1;  ///< of the whole: what follows the first time runs back to back, and is compared on a group alone
  bool verify = true;      ///< if not, the first time runs back to back too
  int ranks = 0;           ///< of a kernel that runs on a group of ranks: how many; 0: as many as it wants
  bool processes = false;  ///< of a kernel that runs on a group of ranks: a process a rank
  std::chrono::milliseconds timeout{0};  ///< of these: how long they wait for one that is stopped or silent
  std::string fault;                     ///< rank that stalls, of such a kernel (tools/group_plan.h); empty: none
  bool interruptible = false;            ///< on a group: a signal ends the run early, which then tells what it has
  std::string trace;                     ///< file for the kernel's own time stamps; empty: none
  ProfileFlags profile;
};

struct RunResult {
  std::string key;
  std::string arch;
  std::string device;
  std::string device_name;  ///< product and arch, or the emulator's description of itself
  cache::Source source = cache::Source::kBuilt;
  runtime::GetTimes get_ms;
  double load_ms = 0;  ///< cache look-up and module load
  double run_ms = 0;   ///< all launches
  runtime::Resources resources;
  int launches = 0;                          ///< those that ended well
  std::optional<std::int64_t> weight_bytes;  ///< that the first launch has to read at least
  std::vector<LaunchResult> layers;          ///< that were compared
  std::vector<kernels::Comparison> outputs;  ///< of all that was compared, each output once
  std::optional<ReplayResult> replays;       ///< of captured steps, between the first time and the last
  bool interrupted = false;                  ///< a signal ended it before its last launch
  bool compared = false;
  bool verified = false;
  std::optional<LaunchFailure> failure;  ///< that the kernel's health words tell of
  std::string failed_place;              ///< of the launch that failed, or the last of those that ran back to back
  std::string save_problem;  ///< why the tensors could not be saved; empty: they were, or were not asked for
  std::optional<runtime::EmulatorCounts> emulator;  ///< of all launches
  Json profile;                                     ///< null: none was asked for
  kernels::DeviceTraits traits;
};

/// Refuses outputs that can't be written, that take each other's place, or that of --inputs; but --save may take that,
/// as what it writes has them all.
void check_files(const RunOptions& options);

/// Builds or finds the kernel, launches it on seeded data and compares every output with the host reference. Throws
/// UserError for tensors, a device or a chain that can't be, std::runtime_error when a launch fails and the kernel's
/// health words don't tell why.
RunResult run_kernel(runtime::Jit& jit, const kernels::BuildKey& key, const RunOptions& options);

/// With the field names of docs/cli.md.
Json to_json(const RunResult& result, const RunOptions& options);
void print_text(const RunResult& result, const RunOptions& options);
/// What a launch that failed tells, for stderr.
std::string failure_text(const LaunchFailure& failure, const std::string& place);

Json resources_json(const runtime::Resources& resources);
std::string resources_text(const runtime::Resources& resources);

}  // namespace monojit::tools
