#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/arguments.h"
#include "runtime/loaded_kernel.h"

namespace monojit::runtime {

/// One launch of a step.
struct StepLaunch {
  std::shared_ptr<const LoadedKernel> kernel;
  std::vector<ArgumentValue> values;  ///< in the order of the kernel's argument list
};

/// Launches on one device, captured once and replayed as a whole. The arguments' memory must outlive it.
class StepGraph {
 public:
  /// Throws UserError when a kernel is another device's or doesn't take its values, DeviceError when HIP fails.
  StepGraph(const Device& device, std::span<const StepLaunch> launches);
  ~StepGraph();
  StepGraph(StepGraph&& other) noexcept;
  StepGraph& operator=(StepGraph&& other) noexcept;

  /// Puts all launches on `stream`, which belongs to the device. Takes no lock and allocates nothing.
  void launch(hipStream_t stream) const;

 private:
  std::shared_ptr<const HipTable> table_;
  std::vector<std::shared_ptr<const LoadedKernel>> kernels_;  // their modules stay loaded
  hipGraphExec_t executable_ = nullptr;
};

}  // namespace monojit::runtime
