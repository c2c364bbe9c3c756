// HIP: executable graphs.
#include <fmt/format.h>

#include "runtime/emulator/hip/capture.h"
#include "runtime/emulator/hip/graph_exec.h"
#include "runtime/emulator/hip/graph_nodes.h"
#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::Captures;
using monojit::emulator::checked_event;
using monojit::emulator::checked_exec;
using monojit::emulator::checked_graph;
using monojit::emulator::checked_node;
using monojit::emulator::ChildWork;
using monojit::emulator::copy_of_row;
using monojit::emulator::drop_exec;
using monojit::emulator::guarded;
using monojit::emulator::HipError;
using monojit::emulator::keep_exec;
using monojit::emulator::lock_graphs;
using monojit::emulator::RecordWork;
using monojit::emulator::refuse_unsupported;
using monojit::emulator::refuse_value;
using monojit::emulator::replace_work;
using monojit::emulator::require;
using monojit::emulator::Runtime;
using monojit::emulator::WaitWork;
using monojit::emulator::work_of;

namespace {

constexpr unsigned long long kKnownFlags = hipGraphInstantiateFlagAutoFreeOnLaunch | hipGraphInstantiateFlagUpload |
                                           hipGraphInstantiateFlagDeviceLaunch | hipGraphInstantiateFlagUseNodePriority;

hipGraphExec_t instantiate(hipGraph_t graph, unsigned long long flags) {
  const auto lock = lock_graphs();
  const ihipGraph& source = checked_graph(graph);
  if ((flags & ~kKnownFlags) != 0) refuse_value(fmt::format("graph instantiation flags {:#x}", flags));
  if ((flags & hipGraphInstantiateFlagDeviceLaunch) != 0)
    refuse_unsupported("a graph that is launched from a kernel: neither the chips nor the emulator can");
  return keep_exec(std::make_unique<hipGraphExec>(source, flags));
}

/// New parameters for one node of an executable graph.
template <class Make>
hipError_t set(hipGraphExec_t exec, hipGraphNode_t node, Make make) {
  return guarded([&] {
    const auto lock = lock_graphs();
    hipGraphExec::Step& step = checked_exec(exec).step_of(checked_node(node));
    replace_work(step.work, make());
  });
}

}  // namespace

extern "C" {

hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* error_node, char* log,
                               std::size_t log_bytes) {
  return guarded([&] {
    require(exec, "graphExec");
    if (error_node != nullptr) *error_node = nullptr;
    if (log != nullptr && log_bytes > 0) *log = '\0';
    *exec = instantiate(graph, 0);
  });
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long flags) {
  return guarded([&] { require(exec, "graphExec"), *exec = instantiate(graph, flags); });
}

hipError_t hipGraphInstantiateWithParams(hipGraphExec_t* exec, hipGraph_t graph,
                                         hipGraphInstantiateParams* parameters) {
  return guarded([&] {
    require(exec, "graphExec");
    require(parameters, "instantiateParams");
    parameters->errNode_out = nullptr;
    parameters->result_out = hipGraphInstantiateError;
    *exec = instantiate(graph, parameters->flags);
    parameters->result_out = hipGraphInstantiateSuccess;
  });
}

hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  return guarded([&] {
    const auto lock = lock_graphs();
    drop_exec(exec);
  });
}

hipError_t hipGraphExecGetFlags(hipGraphExec_t exec, unsigned long long* flags) {
  return guarded([&] {
    require(flags, "flags");
    const auto lock = lock_graphs();
    *flags = checked_exec(exec).flags();
  });
}

hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t stream) {
  return guarded([&] {
    const auto lock = lock_graphs();
    static_cast<void>(checked_exec(exec));
    static_cast<void>(Runtime::get().streams().resolve(stream));
  });
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t handle) {
  return guarded([&] {
    ihipStream_t& stream = Runtime::get().streams().resolve(handle);
    const auto lock = lock_graphs();
    hipGraphExec& known = checked_exec(exec);
    if (Captures::get().of(stream) != nullptr && Captures::get().take(stream, ChildWork{known.as_graph()})) return;
    known.launch(stream);
  });
}

hipError_t hipGraphExecUpdate(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* error_node,
                              hipGraphExecUpdateResult* result) {
  return guarded([&] {
    const auto lock = lock_graphs();
    if (error_node != nullptr) *error_node = nullptr;
    hipGraphExecUpdateResult outcome = hipGraphExecUpdateError;
    const hipGraphNode* const node = checked_exec(exec).update(checked_graph(graph), outcome);
    if (result != nullptr) *result = outcome;
    if (outcome == hipGraphExecUpdateSuccess) return;
    if (error_node != nullptr) *error_node = const_cast<hipGraphNode_t>(node);
    throw HipError(hipErrorGraphExecUpdateFailure,
                   outcome == hipGraphExecUpdateErrorNodeTypeChanged
                       ? "graph update: a node has another type than before"
                       : "graph update: nodes or dependencies are not those of the executable graph");
  });
}

hipError_t hipGraphExecNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipGraphNodeParams* parameters) {
  return set(exec, node, [&] { return work_of(parameters); });
}
hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipKernelNodeParams* parameters) {
  return set(exec, node, [&] { return work_of(parameters); });
}
hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipMemcpy3DParms* parameters) {
  return set(exec, node, [&] { return work_of(static_cast<const hipMemcpy3DParms*>(parameters)); });
}
hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void* to, const void* from,
                                             std::size_t bytes, hipMemcpyKind kind) {
  return set(exec, node, [&] { return copy_of_row(to, from, bytes, kind); });
}
hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipMemsetParams* parameters) {
  return set(exec, node, [&] { return work_of(parameters); });
}
hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                         const hipHostNodeParams* parameters) {
  return set(exec, node, [&] { return work_of(parameters); });
}
hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event) {
  return set(exec, node, [&] { return RecordWork{checked_event(event)}; });
}
hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event) {
  return set(exec, node, [&] { return WaitWork{checked_event(event)}; });
}

hipError_t hipGraphNodeSetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned int enabled) {
  return guarded([&] {
    const auto lock = lock_graphs();
    checked_exec(exec).step_of(checked_node(node)).enabled = enabled != 0;
  });
}
hipError_t hipGraphNodeGetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned int* enabled) {
  return guarded([&] {
    require(enabled, "isEnabled");
    const auto lock = lock_graphs();
    *enabled = checked_exec(exec).step_of(checked_node(node)).enabled ? 1 : 0;
  });
}

}  // extern "C"
