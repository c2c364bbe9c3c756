// HIP: launches.
#include <fmt/format.h>

#include "runtime/emulator/hip/event.h"
#include "runtime/emulator/hip/kernel_arguments.h"
#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::checked_event;
using monojit::emulator::guarded;
using monojit::emulator::Kernel;
using monojit::emulator::kernel_work;
using monojit::emulator::LaunchShape;
using monojit::emulator::RecordWork;
using monojit::emulator::refuse_unsupported;
using monojit::emulator::refuse_value;
using monojit::emulator::require;
using monojit::emulator::Runtime;
using monojit::emulator::submit;
using monojit::emulator::u32;

namespace {

/// Workgroups of a grid that is given in work-items.
u32 workgroups(hipFunction_t function, u32 work_items, u32 block) {
  if (block == 0 || work_items % block != 0) {
    refuse_unsupported(fmt::format("launch of {}: {} work-items in workgroups of {}: the emulator has full ones only",
                                   Runtime::get().kernel_of(function).name, work_items, block));
  }
  return work_items / block;
}

bool cooperative(const hipLaunchAttribute* attributes, u32 count) {
  if (count > 0) require(attributes, "attrs");
  bool found = false;
  for (u32 i = 0; i < count; ++i) {
    if (attributes[i].id <= 0 || attributes[i].id >= hipLaunchAttributeMax)
      refuse_value(fmt::format("launch attribute {}", static_cast<int>(attributes[i].id)));
    if (attributes[i].id == hipLaunchAttributeCooperative) found = attributes[i].val.cooperative != 0;
  }
  return found;
}

void launch_in_work_items(hipFunction_t function, const u32 (&global)[3], const u32 (&local)[3],
                          std::size_t dynamic_lds, hipStream_t stream, void** arguments, void** extra, hipEvent_t start,
                          hipEvent_t stop) {
  LaunchShape shape{.block = {local[0], local[1], local[2]}, .dynamic_lds = dynamic_lds};
  for (u32 i = 0; i < 3; ++i) shape.grid[i] = workgroups(function, global[i], local[i]);
  auto work = kernel_work(function, shape, arguments, extra);
  if (start != nullptr) submit(stream, RecordWork{checked_event(start)});
  submit(stream, std::move(work));
  if (stop != nullptr) submit(stream, RecordWork{checked_event(stop)});
}

}  // namespace

extern "C" {

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                 unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                 unsigned int dynamic_lds, hipStream_t stream, void** arguments, void** extra) {
  return guarded([&] {
    submit(stream, kernel_work(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_lds},
                               arguments, extra));
  });
}

hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y,
                                            unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                            unsigned int block_z, unsigned int dynamic_lds, hipStream_t stream,
                                            void** arguments) {
  return guarded([&] {
    submit(stream, kernel_work(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_lds},
                               arguments, nullptr, true));
  });
}

hipError_t hipModuleLaunchCooperativeKernelMultiDevice(hipFunctionLaunchParams* list, unsigned int count,
                                                       unsigned int) {
  return guarded([&] {
    require(list, "launchParamsList");
    for (unsigned int i = 0; i < count; ++i) {
      const hipFunctionLaunchParams& one = list[i];
      submit(one.hStream, kernel_work(one.function,
                                      {{one.gridDimX, one.gridDimY, one.gridDimZ},
                                       {one.blockDimX, one.blockDimY, one.blockDimZ},
                                       one.sharedMemBytes},
                                      one.kernelParams, nullptr, true));
    }
  });
}

hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG* config, hipFunction_t function, void** arguments,
                                void** extra) {
  return guarded([&] {
    require(config, "config");
    submit(config->hStream, kernel_work(function,
                                        {{config->gridDimX, config->gridDimY, config->gridDimZ},
                                         {config->blockDimX, config->blockDimY, config->blockDimZ},
                                         config->sharedMemBytes},
                                        arguments, extra, cooperative(config->attrs, config->numAttrs)));
  });
}

#pragma GCC visibility push(default)

hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t global_x, uint32_t global_y, uint32_t global_z,
                                    uint32_t local_x, uint32_t local_y, uint32_t local_z, std::size_t dynamic_lds,
                                    hipStream_t stream, void** arguments, void** extra, hipEvent_t start,
                                    hipEvent_t stop, uint32_t) {
  return guarded([&] {
    launch_in_work_items(function, {global_x, global_y, global_z}, {local_x, local_y, local_z}, dynamic_lds, stream,
                         arguments, extra, start, stop);
  });
}

hipError_t hipHccModuleLaunchKernel(hipFunction_t function, uint32_t global_x, uint32_t global_y, uint32_t global_z,
                                    uint32_t local_x, uint32_t local_y, uint32_t local_z, std::size_t dynamic_lds,
                                    hipStream_t stream, void** arguments, void** extra, hipEvent_t start,
                                    hipEvent_t stop) {
  return hipExtModuleLaunchKernel(function, global_x, global_y, global_z, local_x, local_y, local_z, dynamic_lds,
                                  stream, arguments, extra, start, stop, 0);
}

#pragma GCC visibility pop

}  // extern "C"
