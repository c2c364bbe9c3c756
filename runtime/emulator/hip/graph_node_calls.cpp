// HIP: nodes are added to graphs, told and changed.
#include <fmt/format.h>

#include "runtime/emulator/hip/event.h"
#include "runtime/emulator/hip/graph_nodes.h"
#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::AllocateWork;
using monojit::emulator::check_work;
using monojit::emulator::checked_event;
using monojit::emulator::checked_graph;
using monojit::emulator::checked_node;
using monojit::emulator::ChildWork;
using monojit::emulator::copy_of_row;
using monojit::emulator::copy_parameters;
using monojit::emulator::CopyWork;
using monojit::emulator::EmptyWork;
using monojit::emulator::fill_parameters;
using monojit::emulator::FillWork;
using monojit::emulator::FreeWork;
using monojit::emulator::guarded;
using monojit::emulator::HostWork;
using monojit::emulator::kernel_parameters;
using monojit::emulator::KernelWork;
using monojit::emulator::lock_graphs;
using monojit::emulator::RecordWork;
using monojit::emulator::refuse_unsupported;
using monojit::emulator::replace_work;
using monojit::emulator::require;
using monojit::emulator::WaitWork;
using monojit::emulator::Work;
using monojit::emulator::work_as;
using monojit::emulator::work_of;

namespace {

/// `make` gives the work, under the lock.
template <class Make>
hipError_t add(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, std::size_t count,
               Make make) {
  return guarded([&] {
    require(node, "node");
    const auto lock = lock_graphs();
    ihipGraph& target = checked_graph(graph);
    if (count > 0) require(dependencies, "dependencies");
    Work work = make();
    *node = target.add(std::move(work), {dependencies, dependencies + count});
  });
}

template <class Body>
hipError_t with_node(hipGraphNode_t node, Body body) {
  return guarded([&] {
    const auto lock = lock_graphs();
    body(checked_node(node));
  });
}

/// What `read` finds in the node, to *target, which `name` is called by.
template <class Target, class Read>
hipError_t read_node(hipGraphNode_t node, Target* target, const char* name, Read read) {
  return with_node(node, [&](hipGraphNode& known) {
    require(target, name);
    *target = read(known);
  });
}

}  // namespace

extern "C" {

hipError_t hipGraphAddNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                           std::size_t count, hipGraphNodeParams* parameters) {
  return add(node, graph, dependencies, count, [&] { return work_of(parameters); });
}
hipError_t hipGraphAddEmptyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                std::size_t count) {
  return add(node, graph, dependencies, count, [] { return EmptyWork{}; });
}
hipError_t hipGraphAddKernelNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 std::size_t count, const hipKernelNodeParams* parameters) {
  return add(node, graph, dependencies, count, [&] { return work_of(parameters); });
}
hipError_t hipGraphAddMemcpyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 std::size_t count, const hipMemcpy3DParms* parameters) {
  return add(node, graph, dependencies, count, [&] { return work_of(parameters); });
}
hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                   std::size_t count, void* to, const void* from, std::size_t bytes,
                                   hipMemcpyKind kind) {
  return add(node, graph, dependencies, count, [&] { return copy_of_row(to, from, bytes, kind); });
}
hipError_t hipGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 std::size_t count, const hipMemsetParams* parameters) {
  return add(node, graph, dependencies, count, [&] { return work_of(parameters); });
}
hipError_t hipGraphAddHostNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                               std::size_t count, const hipHostNodeParams* parameters) {
  return add(node, graph, dependencies, count, [&] { return work_of(parameters); });
}
hipError_t hipGraphAddChildGraphNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                     std::size_t count, hipGraph_t child) {
  return add(node, graph, dependencies, count, [&] { return ChildWork{checked_graph(child).clone()}; });
}
hipError_t hipGraphAddEventRecordNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                      std::size_t count, hipEvent_t event) {
  return add(node, graph, dependencies, count, [&] { return RecordWork{checked_event(event)}; });
}
hipError_t hipGraphAddEventWaitNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                    std::size_t count, hipEvent_t event) {
  return add(node, graph, dependencies, count, [&] { return WaitWork{checked_event(event)}; });
}
hipError_t hipGraphAddMemAllocNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                   std::size_t count, hipMemAllocNodeParams* parameters) {
  return add(node, graph, dependencies, count, [&] { return work_of(parameters); });
}
hipError_t hipGraphAddMemFreeNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                  std::size_t count, void* pointer) {
  return add(node, graph, dependencies, count, [&] { return require(pointer, "pointer"), FreeWork{pointer}; });
}

hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams* parameters) {
  return read_node(node, parameters, "parameters", [](hipGraphNode& known) { return kernel_parameters(known); });
}
hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms* parameters) {
  return read_node(node, parameters, "parameters",
                   [](hipGraphNode& known) { return copy_parameters(work_as<CopyWork>(known, "memcpy")); });
}
hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams* parameters) {
  return read_node(node, parameters, "parameters",
                   [](hipGraphNode& known) { return fill_parameters(work_as<FillWork>(known, "memset")); });
}
hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams* parameters) {
  return read_node(node, parameters, "parameters", [](hipGraphNode& known) {
    const HostWork& host = work_as<HostWork>(known, "host");
    return hipHostNodeParams{host.function, host.data};
  });
}
hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t* graph) {
  return read_node(node, graph, "graph",
                   [](hipGraphNode& known) { return work_as<ChildWork>(known, "child graph").graph.get(); });
}
hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {
  return read_node(node, event, "event",
                   [](hipGraphNode& known) { return work_as<RecordWork>(known, "event record").event.get(); });
}
hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {
  return read_node(node, event, "event",
                   [](hipGraphNode& known) { return work_as<WaitWork>(known, "event wait").event.get(); });
}
hipError_t hipGraphMemAllocNodeGetParams(hipGraphNode_t node, hipMemAllocNodeParams* parameters) {
  return read_node(node, parameters, "parameters",
                   [](hipGraphNode& known) { return work_as<AllocateWork>(known, "allocation").parameters; });
}
hipError_t hipGraphMemFreeNodeGetParams(hipGraphNode_t node, void* pointer) {
  return read_node(node, static_cast<void**>(pointer), "pointer",
                   [](hipGraphNode& known) { return work_as<FreeWork>(known, "free").pointer; });
}

hipError_t hipGraphNodeSetParams(hipGraphNode_t node, hipGraphNodeParams* parameters) {
  return with_node(node, [&](hipGraphNode& known) { replace_work(known.work, work_of(parameters)); });
}
hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams* parameters) {
  return with_node(node, [&](hipGraphNode& known) { replace_work(known.work, work_of(parameters)); });
}
hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms* parameters) {
  return with_node(node, [&](hipGraphNode& known) { replace_work(known.work, work_of(parameters)); });
}
hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* to, const void* from, std::size_t bytes,
                                         hipMemcpyKind kind) {
  return with_node(node, [&](hipGraphNode& known) { replace_work(known.work, copy_of_row(to, from, bytes, kind)); });
}
hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams* parameters) {
  return with_node(node, [&](hipGraphNode& known) { replace_work(known.work, work_of(parameters)); });
}
hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams* parameters) {
  return with_node(node, [&](hipGraphNode& known) { replace_work(known.work, work_of(parameters)); });
}
hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  return with_node(node, [&](hipGraphNode& known) { replace_work(known.work, RecordWork{checked_event(event)}); });
}
hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  return with_node(node, [&](hipGraphNode& known) { replace_work(known.work, WaitWork{checked_event(event)}); });
}

hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t node, hipKernelNodeAttrID attribute,
                                          const hipKernelNodeAttrValue* value) {
  return with_node(node, [&](hipGraphNode& known) {
    require(value, "value");
    KernelWork& kernel = work_as<KernelWork>(known, "kernel");
    if (attribute != hipKernelNodeAttributeCooperative)
      refuse_unsupported(fmt::format("kernel node attribute {}", static_cast<int>(attribute)));
    KernelWork next = kernel;
    next.request.cooperative = value->cooperative != 0;
    check_work(next);
    kernel = std::move(next);
  });
}
hipError_t hipGraphKernelNodeGetAttribute(hipGraphNode_t node, hipKernelNodeAttrID attribute,
                                          hipKernelNodeAttrValue* value) {
  return with_node(node, [&](hipGraphNode& known) {
    require(value, "value");
    const KernelWork& kernel = work_as<KernelWork>(known, "kernel");
    if (attribute != hipKernelNodeAttributeCooperative)
      refuse_unsupported(fmt::format("kernel node attribute {}", static_cast<int>(attribute)));
    value->cooperative = kernel.request.cooperative ? 1 : 0;
  });
}

}  // extern "C"
