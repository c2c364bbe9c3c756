#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/common/workload.h"
#include "runtime/hip/emulator_extras.h"
#include "runtime/jit.h"
#include "tools/profile_report.h"
#include "tools/report.h"

/// One kernel from key to verified outputs.
namespace monojit::tools {

struct RunOptions {
  std::string device = "auto";
  std::string arch;  ///< empty: the device's
  std::uint64_t seed = 1;
  std::string inputs;  ///< safetensors file that replaces generated tensors; empty: none
  std::string save;    ///< safetensors file to write; empty: none
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
  double run_ms = 0;
  runtime::Resources resources;
  std::vector<kernels::Comparison> outputs;
  bool verified = false;
  std::string save_problem;  ///< why the tensors could not be saved; empty: they were, or were not asked for
  std::optional<runtime::EmulatorCounts> emulator;  ///< of this launch
  Json profile;                                     ///< null: none was asked for
  kernels::DeviceTraits traits;
};

/// Builds or finds the kernel, launches it on seeded data and compares every output with the host reference. Throws
/// UserError for tensors or a device that can't be used, DeviceError when the launch fails.
RunResult run_kernel(runtime::Jit& jit, const kernels::BuildKey& key, const RunOptions& options);

/// With the field names of docs/cli.md.
Json to_json(const RunResult& result);
void print_text(const RunResult& result);

Json resources_json(const runtime::Resources& resources);
std::string resources_text(const runtime::Resources& resources);

}  // namespace monojit::tools
