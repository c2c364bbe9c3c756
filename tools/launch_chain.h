#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/workload.h"
#include "runtime/device_tensors.h"
#include "runtime/hip/emulator_extras.h"
#include "runtime/hip/stream.h"
#include "runtime/loaded_kernel.h"
#include "tools/timeline_trace.h"

/// Launches of one kernel as an engine makes them: layer after layer on the same buffers, nothing cleared between.
namespace monojit::tools {

/// Which launch of a model, and how it went.
struct LaunchResult {
  std::vector<std::pair<std::string, std::int64_t>> place;  ///< step, layer; empty where the family has no such notion
  double run_ms = 0;                                        ///< launch and wait
  std::optional<runtime::EmulatorCounts> emulator;
  std::vector<kernels::Comparison> outputs;  ///< empty: not compared
};

/// A launch failed, or a wait in it gave up.
struct LaunchFailure {
  std::string error;   ///< the device's; empty: it reported none
  std::string health;  ///< what the kernel's bounded waits left behind, a line a workgroup; may be empty
};

class LaunchChain {
 public:
  /// `tensors` of the first launch; `trace` outlives this.
  LaunchChain(const runtime::LoadedKernel& kernel, const kernels::Workload& workload,
              std::vector<kernels::Tensor> tensors, TimelineTrace& trace);

  /// The next launch, waited for and compared with the reference on what it really saw. What went wrong on the device;
  /// nothing: `result` is whole. Throws UserError when the family has no next launch.
  std::optional<LaunchFailure> launch(const kernels::DeviceTraits& traits, LaunchResult& result);

  /// `count` launches back to back, without a look at the device's memory before the last is done. `result` is of all
  /// of them, its place the last one's.
  std::optional<LaunchFailure> launch_back_to_back(int count, LaunchResult& result);

  /// All tensors, as the latest launch left them.
  const std::vector<kernels::Tensor>& download();

 private:
  void begin_next();
  std::optional<LaunchFailure> run(int count, LaunchResult& result);
  std::optional<LaunchFailure> failure_of(const std::string& error);

  const runtime::LoadedKernel& kernel_;
  const kernels::Workload& workload_;
  std::vector<kernels::Tensor> tensors_;  ///< of the latest launch
  bool current_ = true;                   ///< they are as on the device; if not, only those that no kernel writes
  bool launched_ = false;                 ///< a launch was begun
  TimelineTrace& trace_;
  runtime::DeviceTensors on_device_;
  runtime::Stream stream_;
};

/// Adds comparisons to those of earlier launches: counts add up, of the distances the worst stays.
void merge(const std::vector<kernels::Comparison>& outputs, std::vector<kernels::Comparison>& all);

/// "step 5, layer 17".
std::string place_text(const std::vector<std::pair<std::string, std::int64_t>>& place);

}  // namespace monojit::tools
