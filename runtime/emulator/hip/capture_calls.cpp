// HIP: stream capture.
#include <fmt/format.h>

#include "runtime/emulator/hip/capture.h"
#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::Capture;
using monojit::emulator::Captures;
using monojit::emulator::checked_graph;
using monojit::emulator::guarded;
using monojit::emulator::HipError;
using monojit::emulator::keep_graph;
using monojit::emulator::lock_graphs;
using monojit::emulator::refuse_value;
using monojit::emulator::require;
using monojit::emulator::Runtime;

namespace {

const ihipStream_t& stream_of(hipStream_t handle) { return Runtime::get().streams().resolve(handle); }

void check_mode(hipStreamCaptureMode mode) {
  if (mode < hipStreamCaptureModeGlobal || mode > hipStreamCaptureModeRelaxed)
    refuse_value(fmt::format("capture mode {}", static_cast<int>(mode)));
}

hipStreamCaptureStatus status_of(const std::shared_ptr<Capture>& capture) {
  if (capture == nullptr) return hipStreamCaptureStatusNone;
  return capture->invalid ? hipStreamCaptureStatusInvalidated : hipStreamCaptureStatusActive;
}

std::vector<hipGraphNode_t> nodes_of(const ihipGraph& graph, const hipGraphNode_t* nodes, std::size_t count) {
  if (count > 0) require(nodes, "dependencies");
  std::vector<hipGraphNode_t> list(nodes, nodes + count);
  for (const hipGraphNode_t node : list) {
    if (!graph.holds(node)) refuse_value("capture: a dependency is no node of the graph");
  }
  return list;
}

}  // namespace

extern "C" {

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return guarded([&] {
    check_mode(mode);
    Captures::get().begin(stream_of(stream), mode, std::make_shared<ihipGraph>(), {});
  });
}

hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                        const hipGraphEdgeData*, std::size_t count, hipStreamCaptureMode mode) {
  return guarded([&] {
    check_mode(mode);
    const auto lock = lock_graphs();
    ihipGraph& target = checked_graph(graph);
    Captures::get().begin(stream_of(stream), mode, target.shared_from_this(), nodes_of(target, dependencies, count));
  });
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return guarded([&] {
    require(graph, "graph");
    *graph = nullptr;
    *graph = keep_graph(Captures::get().end(stream_of(stream)));
  });
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  return guarded([&] { require(status, "status"), *status = status_of(Captures::get().of(stream_of(stream))); });
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* number) {
  return hipStreamGetCaptureInfo_v2(stream, status, number, nullptr, nullptr, nullptr);
}

hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* number,
                                      hipGraph_t* graph, const hipGraphNode_t** dependencies, std::size_t* count) {
  return guarded([&] {
    require(status, "status");
    const ihipStream_t& queue = stream_of(stream);
    const std::shared_ptr<Capture> capture = Captures::get().of(queue);
    *status = status_of(capture);
    if (*status != hipStreamCaptureStatusActive) return;
    const auto& tails = capture->tails[&queue];
    if (number != nullptr) *number = capture->number;
    if (graph != nullptr) *graph = capture->graph.get();
    if (dependencies != nullptr) *dependencies = tails.data();
    if (count != nullptr) *count = tails.size();
  });
}

hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t* dependencies, std::size_t count,
                                              unsigned int flags) {
  return guarded([&] {
    const ihipStream_t& queue = stream_of(stream);
    const std::shared_ptr<Capture> capture = Captures::get().of(queue);
    if (capture == nullptr) throw HipError(hipErrorIllegalState, "the stream does not capture");
    if (flags != hipStreamAddCaptureDependencies && flags != hipStreamSetCaptureDependencies)
      refuse_value(fmt::format("capture dependencies: flags {:#x}", flags));
    const auto lock = lock_graphs();
    const auto nodes = nodes_of(*capture->graph, dependencies, count);
    auto& tails = capture->tails[&queue];
    if (flags == hipStreamSetCaptureDependencies) tails.clear();
    tails.insert(tails.end(), nodes.begin(), nodes.end());
  });
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return guarded([&] {
    require(mode, "mode");
    check_mode(*mode);
    *mode = Captures::exchange_mode(*mode);
  });
}

}  // extern "C"
