// The HIP functions of libmonojit_hip_emulator.so as a host program sees them.
#include <cstddef>

#include "tests/emulator/hip_fixture.h"

namespace monojit::emulator::test {
namespace {

TEST_CASE("a module is loaded, launched both ways and its result copied back") {
  LoadedKernel loaded(scale_kernel());
  constexpr std::uint32_t kCount = 256;
  std::vector<std::uint32_t> in(kCount), out(kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) in[i] = i;
  void *din = nullptr, *dout = nullptr;
  REQUIRE(hipMalloc(&din, kCount * 4) == hipSuccess);
  REQUIRE(hipMalloc(&dout, kCount * 4) == hipSuccess);
  REQUIRE(hipMemcpy(din, in.data(), kCount * 4, hipMemcpyHostToDevice) == hipSuccess);
  REQUIRE(hipMemset(dout, 0xff, kCount * 4) == hipSuccess);
  hipStream_t stream = nullptr;
  REQUIRE(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking) == hipSuccess);

  std::uint64_t factor = 3;
  void* pointers[] = {&din, &dout, &factor};
  REQUIRE(hipModuleLaunchKernel(loaded.function(), kCount / 64, 1, 1, 64, 1, 1, 0, stream, pointers, nullptr) ==
          hipSuccess);
  REQUIRE(hipStreamSynchronize(stream) == hipSuccess);
  REQUIRE(hipMemcpyDtoH(out.data(), dout, kCount * 4) == hipSuccess);
  for (std::uint32_t i = 0; i < kCount; ++i) REQUIRE(out[i] == 3 * i);

  struct {
    void *in, *out;
    std::uint64_t factor;
  } packed{din, dout, 5};
  std::size_t bytes = sizeof packed;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  REQUIRE(hipModuleLaunchKernel(loaded.function(), kCount / 64, 1, 1, 64, 1, 1, 0, stream, nullptr, extra) ==
          hipSuccess);
  REQUIRE(hipMemcpyAsync(out.data(), dout, kCount * 4, hipMemcpyDeviceToHost, stream) == hipSuccess);
  for (std::uint32_t i = 0; i < kCount; ++i) REQUIRE(out[i] == 5 * i);

  bytes = 16;
  CHECK(hipModuleLaunchKernel(loaded.function(), 1, 1, 1, 64, 1, 1, 0, stream, nullptr, extra) == hipErrorInvalidValue);
  CHECK_THAT(std::string(monojitEmulatorLastFault()),
             ContainsSubstring("launch of scale: 16 bytes of arguments, where the kernel takes 24"));
  CHECK(hipStreamDestroy(stream) == hipSuccess);
  CHECK(hipFree(din) == hipSuccess);
  CHECK(hipFree(dout) == hipSuccess);
  CHECK(hipFree(dout) == hipErrorInvalidValue);
}

TEST_CASE("a faulting kernel makes synchronisation fail, with the text, until a launch succeeds") {
  LoadedKernel loaded(scale_kernel());
  std::uint64_t null = 0, factor = 1;
  void* pointers[] = {&null, &null, &factor};
  REQUIRE(hipModuleLaunchKernel(loaded.function(), 1, 1, 1, 64, 1, 1, 0, nullptr, pointers, nullptr) == hipSuccess);
  CHECK(hipDeviceSynchronize() == hipErrorIllegalAddress);
  CHECK_THAT(std::string(monojitEmulatorLastFault()),
             ContainsSubstring("kernel scale: load of 4 bytes at 0x0 by lane 0"));
  CHECK(hipStreamSynchronize(nullptr) == hipErrorIllegalAddress);
  CHECK(hipGetLastError() == hipErrorIllegalAddress);
  CHECK(hipGetLastError() == hipSuccess);

  void* buffer = nullptr;
  REQUIRE(hipMalloc(&buffer, 256) == hipSuccess);
  std::uint32_t word = 0;
  REQUIRE(hipMemset(buffer, 5, 256) == hipSuccess);  // it was told: copies and fills work again
  CHECK(hipMemcpy(&word, buffer, sizeof word, hipMemcpyDeviceToHost) == hipSuccess);
  CHECK(word == 0x05050505);
  CHECK(hipDeviceSynchronize() == hipErrorIllegalAddress);
  void* good[] = {&buffer, &buffer, &factor};
  REQUIRE(hipModuleLaunchKernel(loaded.function(), 1, 1, 1, 64, 1, 1, 0, nullptr, good, nullptr) == hipSuccess);
  CHECK(hipDeviceSynchronize() == hipSuccess);
  CHECK(hipFree(buffer) == hipSuccess);
}

TEST_CASE("a copy is told of a failure that nobody was told of, and is not done") {
  LoadedKernel loaded(scale_kernel());
  std::uint64_t null = 0, factor = 1;
  void* pointers[] = {&null, &null, &factor};
  void* buffer = nullptr;
  REQUIRE(hipMalloc(&buffer, 256) == hipSuccess);
  REQUIRE(hipMemset(buffer, 5, 256) == hipSuccess);
  REQUIRE(hipModuleLaunchKernel(loaded.function(), 1, 1, 1, 64, 1, 1, 0, nullptr, pointers, nullptr) == hipSuccess);
  std::uint32_t word = 0;
  CHECK(hipMemcpy(&word, buffer, sizeof word, hipMemcpyDeviceToHost) == hipErrorIllegalAddress);
  CHECK(word == 0);
  CHECK(hipMemcpy(&word, buffer, sizeof word, hipMemcpyDeviceToHost) == hipSuccess);
  CHECK(word == 0x05050505);
  void* good[] = {&buffer, &buffer, &factor};
  REQUIRE(hipModuleLaunchKernel(loaded.function(), 1, 1, 1, 64, 1, 1, 0, nullptr, good, nullptr) == hipSuccess);
  CHECK(hipDeviceSynchronize() == hipSuccess);
  CHECK(hipFree(buffer) == hipSuccess);
}

TEST_CASE("bad images, names and handles give HIP's codes") {
  LoadedKernel loaded(scale_kernel());
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  const std::string text(200, 'x');
  CHECK(hipModuleLoadData(&module, text.data()) == hipErrorInvalidImage);
  CHECK(hipModuleLoadData(&module, nullptr) == hipErrorInvalidValue);
  CHECK(hipModuleLoadData(&module, assemble({.body = "", .arch = "gfx942"}).data()) == hipErrorNoBinaryForGpu);
  CHECK(hipModuleGetFunction(&function, loaded.module(), "scales") == hipErrorNotFound);
  CHECK(hipModuleGetFunction(&function, nullptr, "scale") == hipErrorInvalidValue);
  CHECK(hipModuleLaunchKernel(loaded.function(), 0, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr) ==
        hipErrorInvalidValue);
  CHECK(hipSetDevice(1) == hipErrorInvalidDevice);
  CHECK(std::string(hipGetErrorName(hipErrorIllegalAddress)) == "hipErrorIllegalAddress");
}

TEST_CASE("the device says what it is and how many workgroups fit") {
  int count = 0;
  REQUIRE(hipGetDeviceCount(&count) == hipSuccess);
  CHECK(count == 1);
  hipDeviceProp_t properties;
  REQUIRE(hipGetDeviceProperties(&properties, 0) == hipSuccess);
  CHECK_THAT(std::string(properties.gcnArchName), ContainsSubstring("gfx950"));
  CHECK(properties.multiProcessorCount == 256);
  CHECK(properties.sharedMemPerBlock == 160 * 1024);
  LoadedKernel loaded(scale_kernel());
  int blocks = 0;
  REQUIRE(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, loaded.function(), 512, 0) == hipSuccess);
  CHECK(blocks == 3);  // 96 SGPRs and six special ones: seven waves a SIMD
  REQUIRE(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, loaded.function(), 512, 81 * 1024) == hipSuccess);
  CHECK(blocks == 1);
}

TEST_CASE("counters count and options that come too late are refused") {
  LoadedKernel loaded(scale_kernel());
  void* buffer = nullptr;
  std::uint64_t factor = 1;
  REQUIRE(hipMalloc(&buffer, 256) == hipSuccess);
  monojitEmulatorResetCounters();
  void* pointers[] = {&buffer, &buffer, &factor};
  REQUIRE(hipModuleLaunchKernel(loaded.function(), 1, 1, 1, 64, 1, 1, 0, nullptr, pointers, nullptr) == hipSuccess);
  REQUIRE(hipDeviceSynchronize() == hipSuccess);
  MonojitEmulatorCounters counters{};
  CHECK(monojitEmulatorCounters(&counters) == 1);
  counters.struct_bytes = sizeof counters;
  REQUIRE(hipDeviceSynchronize() == hipSuccess);
  REQUIRE(monojitEmulatorCounters(&counters) == 0);
  CHECK(counters.launches == 1);
  CHECK(counters.wave_instructions == 11);
  CHECK(counters.vector_memory == 2);
  MonojitEmulatorCounters older{};
  older.struct_bytes = offsetof(MonojitEmulatorCounters, device_bytes_loaded);
  CHECK(monojitEmulatorCounters(&older) == 0);
  CHECK(older.wave_instructions == counters.wave_instructions);
  CHECK(older.struct_bytes == offsetof(MonojitEmulatorCounters, device_bytes_loaded));
  CHECK(older.device_bytes_loaded == 0);
  CHECK(counters.device_bytes_loaded == 256);
  CHECK(counters.device_bytes_stored == 256);
  CHECK(counters.peer_bytes_loaded + counters.peer_bytes_stored == 0);
  CHECK(counters.host_bytes_loaded + counters.host_bytes_stored == 0);
  CHECK(counters.lds_bytes_loaded + counters.lds_bytes_stored == 0);
  CHECK(counters.scratch_bytes_loaded + counters.scratch_bytes_stored == 0);
  CHECK(counters.seconds > 0);
  CHECK(monojitEmulatorSetOption("chip", "gfx942") == 1);
  CHECK_THAT(std::string(monojitEmulatorLastFault()), ContainsSubstring("too late"));
  CHECK(monojitEmulatorSetOption("threads", "2") == 0);
  CHECK(monojitEmulatorSetOption("threads", "1") == 0);
  CHECK_THAT(std::string(monojitEmulatorDescribe()),
             ContainsSubstring("gfx950 emulator: 256 compute units, matrix model cdna3 (assumed for this chip)"));
  CHECK(std::string(monojitEmulatorMatrixModel()) == "cdna3");
  CHECK(hipFree(buffer) == hipSuccess);
}

}  // namespace
}  // namespace monojit::emulator::test
