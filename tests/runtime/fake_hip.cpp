// A HIP library that does nothing but remember: what the runtime's tests open in place of libamdhip64.
#include "tests/runtime/fake_hip.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <hip/hip_runtime_api.h>

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {

FakeHip state;

hipError_t outcome(const char* function) {
  const bool fails = state.failing != nullptr && std::strcmp(state.failing, function) == 0;
  return fails ? hipErrorInvalidValue : hipSuccess;
}

}  // namespace

FAKE FakeHip* fakeHip() { return &state; }
FAKE const char* monojitEmulatorLastFault() { return state.fault; }

FAKE hipError_t hipInit(unsigned int) { return state.devices == 0 ? hipErrorNoDevice : outcome("hipInit"); }
FAKE hipError_t hipRuntimeGetVersion(int* version) { return *version = 70253211, outcome("hipRuntimeGetVersion"); }
FAKE hipError_t hipGetDeviceCount(int* count) { return *count = state.devices, outcome("hipGetDeviceCount"); }
FAKE hipError_t hipSetDevice(int) { return outcome("hipSetDevice"); }
FAKE hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* properties, int) {
  *properties = {};
  std::ranges::copy(std::string_view("Fake Instinct"), properties->name);
  std::ranges::copy(std::string_view(state.arch), properties->gcnArchName);
  properties->multiProcessorCount = state.compute_units;
  return outcome("hipGetDeviceProperties");
}
FAKE hipError_t hipMalloc(void** address, size_t bytes) {
  if (const hipError_t error = outcome("hipMalloc")) return error;
  ++state.allocations;
  *address = std::malloc(bytes);
  return hipSuccess;
}
FAKE hipError_t hipFree(void* address) { return --state.allocations, std::free(address), outcome("hipFree"); }
FAKE hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind) {
  return std::memcpy(to, from, bytes), outcome("hipMemcpy");
}
FAKE hipError_t hipMemset(void* address, int value, size_t bytes) {
  return std::memset(address, value, bytes), outcome("hipMemset");
}
FAKE hipError_t hipModuleLoadData(hipModule_t* module, const void*) {
  ++state.loads;
  *module = reinterpret_cast<hipModule_t>(&state);
  return outcome("hipModuleLoadData");
}
FAKE hipError_t hipModuleUnload(hipModule_t) { return ++state.unloads, outcome("hipModuleUnload"); }
FAKE hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t, const char*) {
  *function = reinterpret_cast<hipFunction_t>(&state);
  return outcome("hipModuleGetFunction");
}
FAKE hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t, int, size_t) {
  *blocks = state.workgroups_per_unit;
  return outcome("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor");
}
FAKE hipError_t hipModuleLaunchKernel(hipFunction_t, unsigned int grid, unsigned int, unsigned int, unsigned int block,
                                      unsigned int, unsigned int, unsigned int, hipStream_t stream, void**,
                                      void** extra) {
  ++state.launches;
  state.grid = grid;
  state.workgroup_size = block;
  state.stream = stream;
  state.kernarg_bytes = *static_cast<size_t*>(extra[3]);
  std::memcpy(state.kernarg.data(), extra[1], state.kernarg_bytes);
  return outcome("hipModuleLaunchKernel");
}
FAKE hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned int) {
  return *stream = reinterpret_cast<hipStream_t>(&state), outcome("hipStreamCreateWithFlags");
}
FAKE hipError_t hipStreamDestroy(hipStream_t) { return outcome("hipStreamDestroy"); }
FAKE hipError_t hipStreamSynchronize(hipStream_t) { return ++state.synchronizations, outcome("hipStreamSynchronize"); }
FAKE hipError_t hipDeviceSynchronize() { return outcome("hipDeviceSynchronize"); }
FAKE hipError_t hipExtMallocWithFlags(void** address, size_t bytes, unsigned int) {
  if (const hipError_t error = outcome("hipExtMallocWithFlags")) return error;
  return hipMalloc(address, bytes);
}
FAKE hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind, hipStream_t) {
  ++state.copies;
  state.copied_to = to;
  return std::memcpy(to, from, bytes), outcome("hipMemcpyAsync");
}
FAKE hipError_t hipHostMalloc(void** address, size_t bytes, unsigned int) { return hipMalloc(address, bytes); }
FAKE hipError_t hipHostFree(void* address) { return hipFree(address); }
FAKE hipError_t hipDeviceCanAccessPeer(int* can, int, int) { return *can = 1, outcome("hipDeviceCanAccessPeer"); }
FAKE hipError_t hipDeviceEnablePeerAccess(int, unsigned int) {
  ++state.accesses;
  return state.failing != nullptr ? outcome("hipDeviceEnablePeerAccess") : hipErrorPeerAccessAlreadyEnabled;
}
FAKE hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* address) {
  std::memcpy(handle->reserved, &address, sizeof address);
  return outcome("hipIpcGetMemHandle");
}
FAKE hipError_t hipIpcOpenMemHandle(void** address, hipIpcMemHandle_t handle, unsigned int) {
  std::memcpy(address, handle.reserved, sizeof *address);
  if (const hipError_t error = outcome("hipIpcOpenMemHandle")) return *address = nullptr, error;
  return ++state.mappings, hipSuccess;
}
FAKE hipError_t hipIpcCloseMemHandle(void*) { return --state.mappings, outcome("hipIpcCloseMemHandle"); }
FAKE hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned int) {
  return *event = reinterpret_cast<hipEvent_t>(&state), outcome("hipEventCreateWithFlags");
}
FAKE hipError_t hipEventDestroy(hipEvent_t) { return outcome("hipEventDestroy"); }
FAKE hipError_t hipEventRecord(hipEvent_t, hipStream_t) { return outcome("hipEventRecord"); }
FAKE hipError_t hipEventSynchronize(hipEvent_t) { return outcome("hipEventSynchronize"); }
FAKE hipError_t hipEventQuery(hipEvent_t) { return state.landed ? outcome("hipEventQuery") : hipErrorNotReady; }
FAKE hipError_t hipStreamBeginCapture(hipStream_t, hipStreamCaptureMode) { return outcome("hipStreamBeginCapture"); }
FAKE hipError_t hipStreamEndCapture(hipStream_t, hipGraph_t* graph) {
  if (const hipError_t error = outcome("hipStreamEndCapture")) return *graph = nullptr, error;
  return ++state.graphs, *graph = reinterpret_cast<hipGraph_t>(&state), hipSuccess;
}
FAKE hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* executable, hipGraph_t, unsigned long long) {
  return *executable = reinterpret_cast<hipGraphExec_t>(&state), outcome("hipGraphInstantiateWithFlags");
}
FAKE hipError_t hipGraphDestroy(hipGraph_t) { return --state.graphs, outcome("hipGraphDestroy"); }
FAKE hipError_t hipGraphLaunch(hipGraphExec_t, hipStream_t) { return ++state.replays, outcome("hipGraphLaunch"); }
FAKE hipError_t hipGraphExecDestroy(hipGraphExec_t) { return outcome("hipGraphExecDestroy"); }
FAKE const char* hipGetErrorName(hipError_t code) {
  return code == hipErrorInvalidValue ? "hipErrorInvalidValue" : "hipErrorUnknown";
}
FAKE const char* hipGetErrorString(hipError_t) { return "invalid argument"; }
