#include "runtime/step_graph.h"

#include <utility>

#include <fmt/format.h>

#include "runtime/hip/stream.h"

namespace monojit::runtime {
namespace {

/// The launches as a graph, which the caller has to destroy.
hipGraph_t captured(const Device& device, std::span<const StepLaunch> launches) {
  const HipTable& hip = device.hip();
  const Stream stream(device);
  hip.check(hip.hipStreamBeginCapture(stream.get(), hipStreamCaptureModeThreadLocal), "hipStreamBeginCapture");
  hipGraph_t graph = nullptr;
  try {
    for (const StepLaunch& launch : launches) launch.kernel->launch(launch.values, stream.get());
  } catch (...) {
    (void)hip.hipStreamEndCapture(stream.get(), &graph);
    if (graph != nullptr) (void)hip.hipGraphDestroy(graph);
    throw;
  }
  hip.check(hip.hipStreamEndCapture(stream.get(), &graph), "hipStreamEndCapture");
  return graph;
}

}  // namespace

StepGraph::StepGraph(const Device& device, std::span<const StepLaunch> launches) : table_(device.table()) {
  for (const StepLaunch& launch : launches) {
    const Device& of = launch.kernel->device();
    if (of.table() != device.table() || of.ordinal() != device.ordinal()) {
      throw UserError(
          fmt::format("{} is loaded on {}, not on {}", launch.kernel->kernel().key.text(), of.text(), device.text()));
    }
    kernels_.push_back(launch.kernel);
  }
  device.select();
  hipGraph_t graph = captured(device, launches);
  const hipError_t made = table_->hipGraphInstantiateWithFlags(&executable_, graph, 0);
  (void)table_->hipGraphDestroy(graph);
  table_->check(made, "hipGraphInstantiateWithFlags");
}

StepGraph::~StepGraph() {
  if (executable_ != nullptr) (void)table_->hipGraphExecDestroy(executable_);
}

StepGraph::StepGraph(StepGraph&& other) noexcept
    : table_(std::move(other.table_)),
      kernels_(std::move(other.kernels_)),
      executable_(std::exchange(other.executable_, nullptr)) {}

StepGraph& StepGraph::operator=(StepGraph&& other) noexcept {
  std::swap(table_, other.table_);
  std::swap(kernels_, other.kernels_);
  std::swap(executable_, other.executable_);
  return *this;
}

void StepGraph::launch(hipStream_t stream) const {
  table_->check(table_->hipGraphLaunch(executable_, stream), "hipGraphLaunch");
}

}  // namespace monojit::runtime
