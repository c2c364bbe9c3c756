#include "runtime/emulator/hip/graph_nodes.h"

#include <fmt/format.h>

#include "runtime/emulator/hip/copies.h"
#include "runtime/emulator/hip/event.h"
#include "runtime/emulator/hip/graph_memory.h"
#include "runtime/emulator/hip/kernel_arguments.h"
#include "runtime/emulator/hip/runtime.h"

namespace monojit::emulator {

Work work_of(const hipKernelNodeParams* parameters) {
  require(parameters, "kernel node parameters");
  const dim3 &grid = parameters->gridDim, &block = parameters->blockDim;
  return kernel_work(static_cast<hipFunction_t>(parameters->func),
                     {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, parameters->sharedMemBytes},
                     parameters->kernelParams, parameters->extra);
}

Work work_of(const hipMemcpy3DParms* parameters) {
  require(parameters, "memcpy node parameters");
  return checked_work(box_copy(*parameters));
}

Work work_of(const hipMemsetParams* parameters) {
  require(parameters, "memset node parameters");
  return checked_work(
      FillWork{.to = {.first = static_cast<u8*>(parameters->dst), .pitch = parameters->pitch},
               .box = {.width = product_of(parameters->width, parameters->elementSize), .height = parameters->height},
               .value = parameters->value,
               .element_bytes = parameters->elementSize});
}

Work work_of(const hipHostNodeParams* parameters) {
  require(parameters, "host node parameters");
  return checked_work(HostWork{parameters->fn, parameters->userData});
}

Work work_of(hipMemAllocNodeParams* parameters) {
  require(parameters, "allocation node parameters");
  const hipMemPoolProps& pool = parameters->poolProps;
  if (pool.allocType != hipMemAllocationTypePinned || pool.location.type != hipMemLocationTypeDevice)
    refuse_value("allocation node: pinned memory of a device is possible, nothing else");
  if (parameters->bytesize == 0) refuse_value("allocation node: 0 bytes");
  AllocateWork work{.memory = std::make_shared<GraphMemory>(parameters->bytesize, checked_device(pool.location.id))};
  parameters->dptr = work.memory->pointer;
  work.parameters = *parameters;
  work.parameters.accessDescs = nullptr;
  work.parameters.accessDescCount = 0;
  return work;
}

Work work_of(hipGraphNodeParams* parameters) {
  require(parameters, "node parameters");
  switch (parameters->type) {
    case hipGraphNodeTypeEmpty:
      return EmptyWork{};
    case hipGraphNodeTypeKernel:
      return work_of(&parameters->kernel);
    case hipGraphNodeTypeMemcpy:
      return work_of(&parameters->memcpy.copyParams);
    case hipGraphNodeTypeMemset:
      return work_of(&parameters->memset);
    case hipGraphNodeTypeHost:
      return work_of(&parameters->host);
    case hipGraphNodeTypeGraph:
      return ChildWork{checked_graph(parameters->graph.graph).clone()};
    case hipGraphNodeTypeWaitEvent:
      return WaitWork{checked_event(parameters->eventWait.event)};
    case hipGraphNodeTypeEventRecord:
      return RecordWork{checked_event(parameters->eventRecord.event)};
    case hipGraphNodeTypeMemAlloc:
      return work_of(&parameters->alloc);
    case hipGraphNodeTypeMemFree:
      return FreeWork{parameters->free.dptr};
    default:
      refuse_unsupported(fmt::format("a {} node", node_type_name(parameters->type)));
  }
}

Work copy_of_row(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  return checked_work(row_copy(to, from, bytes, kind));
}

hipKernelNodeParams kernel_parameters(hipGraphNode& node) {
  KernelWork& kernel = work_as<KernelWork>(node, "kernel");
  LaunchRequest& request = kernel.request;
  node.argument_pointers.clear();
  for (const KernelArgument& argument : request.kernel->metadata.arguments) {
    if (!argument.hidden()) node.argument_pointers.push_back(request.arguments.data() + argument.offset);
  }
  return {.blockDim = {request.block[0], request.block[1], request.block[2]},
          .extra = nullptr,
          .func = kernel.function,
          .gridDim = {request.grid[0], request.grid[1], request.grid[2]},
          .kernelParams = node.argument_pointers.data(),
          .sharedMemBytes = request.dynamic_lds};
}

hipMemcpy3DParms copy_parameters(const CopyWork& copy) {
  const auto pitched = [&](const void* first, std::size_t pitch, std::size_t slice) {
    const std::size_t row = pitch != 0 ? pitch : copy.box.width;
    return hipPitchedPtr{const_cast<void*>(first), row, copy.box.width,
                         slice != 0 && row != 0 ? slice / row : copy.box.height};
  };
  hipMemcpy3DParms parameters{};
  parameters.srcPtr = pitched(copy.from.first, copy.from.pitch, copy.from.slice);
  parameters.dstPtr = pitched(copy.to.first, copy.to.pitch, copy.to.slice);
  parameters.extent = {copy.box.width, copy.box.height, copy.box.depth};
  parameters.kind = copy.kind;
  return parameters;
}

hipMemsetParams fill_parameters(const FillWork& fill) {
  return {.dst = fill.to.first,
          .elementSize = fill.element_bytes,
          .height = fill.box.height,
          .pitch = fill.to.pitch,
          .value = fill.value,
          .width = fill.box.width / fill.element_bytes};
}

void replace_work(Work& target, Work next) {
  if (target.index() != next.index()) {
    refuse_value(fmt::format("graph: parameters of a {} node for a {} node", node_type_name(node_type(next)),
                             node_type_name(node_type(target))));
  }
  target = std::move(next);
}

}  // namespace monojit::emulator
