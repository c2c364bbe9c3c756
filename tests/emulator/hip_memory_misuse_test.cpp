// HIP memory used after its end, beyond its end, and in sizes that no memory has.
#include <cstdlib>
#include <cstring>
#include <limits>

#include "tests/emulator/hip_fixture.h"

namespace monojit::emulator::test {
namespace {

constexpr std::size_t kBytes = 1024;
constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kQuarter = kMost / 4 + 1;  // four of them wrap around to nothing

struct DeviceMemory {
  void* pointer = nullptr;
  DeviceMemory() { REQUIRE(hipMalloc(&pointer, kBytes) == hipSuccess); }
  ~DeviceMemory() { CHECK(hipFree(pointer) == hipSuccess); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
};

void* freed_memory() {
  void* memory = nullptr;
  REQUIRE(hipMalloc(&memory, kBytes) == hipSuccess);
  REQUIRE(hipFree(memory) == hipSuccess);
  return memory;
}

TEST_CASE("a kernel that uses freed memory faults, whatever has been allocated since") {
  LoadedKernel scale(scale_kernel());
  void* const freed = freed_memory();
  const DeviceMemory newer;
  std::free(std::malloc(kBytes * kBytes));
  void* argument = freed;
  std::uint64_t factor = 2;
  void* arguments[] = {&argument, &argument, &factor};
  REQUIRE(scale.launch(arguments) == hipSuccess);
  CHECK(hipDeviceSynchronize() == hipErrorIllegalAddress);
  CHECK_THAT(last_fault(), ContainsSubstring("inside the freed allocation"));
  void* good[] = {const_cast<void**>(&newer.pointer), const_cast<void**>(&newer.pointer), &factor};
  REQUIRE(scale.launch(good) == hipSuccess);
  CHECK(hipDeviceSynchronize() == hipSuccess);
}

TEST_CASE("copies that touch freed memory are refused in every direction") {
  const DeviceMemory memory;
  void* const freed = freed_memory();
  char host[kBytes] = {};
  CHECK(hipMemcpy(freed, host, kBytes, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  for (const hipMemcpyKind kind : {hipMemcpyHostToDevice, hipMemcpyDefault, hipMemcpyDeviceToDevice}) {
    CAPTURE(kind);
    CHECK(hipMemcpy(memory.pointer, freed, kBytes, kind) == hipErrorInvalidValue);
    CHECK_THAT(last_fault(), ContainsSubstring("inside the freed allocation"));
  }
  for (const hipMemcpyKind kind : {hipMemcpyDeviceToHost, hipMemcpyDefault}) {
    CAPTURE(kind);
    CHECK(hipMemcpy(freed, memory.pointer, kBytes, kind) == hipErrorInvalidValue);
    CHECK(hipMemcpyAsync(freed, memory.pointer, kBytes, kind, nullptr) == hipErrorInvalidValue);
  }
  CHECK(hipMemset(freed, 0, kBytes) == hipErrorInvalidValue);
}

TEST_CASE("the pages behind an allocation are nobody's memory") {
  const DeviceMemory memory;
  char host[16] = {};
  char* const behind = static_cast<char*>(memory.pointer) + kBytes;
  CHECK(hipMemcpy(memory.pointer, behind, sizeof host, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  CHECK_THAT(last_fault(), ContainsSubstring("0 bytes behind the end of allocation"));
  CHECK(hipMemcpy(host, behind + 8192 - kBytes - 1, 1, hipMemcpyDefault) == hipErrorInvalidValue);
}

TEST_CASE("sizes that wrap around are refused") {
  const DeviceMemory memory;
  void* const pointer = memory.pointer;
  CHECK(hipMemsetD32(pointer, 1, kQuarter + 1) == hipErrorInvalidValue);
  CHECK(hipMemsetD16(pointer, 1, 2 * kQuarter + 1) == hipErrorInvalidValue);
  CHECK(hipMemset(pointer, 1, kMost) == hipErrorInvalidValue);
  CHECK(hipMemset2D(pointer, kQuarter, 1, 16, 5) == hipErrorInvalidValue);
  CHECK(hipMemset3D({pointer, 16, 16, kQuarter}, 1, {16, 1, 2}) == hipErrorInvalidValue);
  CHECK(hipMemcpyDtoD(pointer, pointer, kMost) == hipErrorInvalidValue);
  char host[16] = {};
  CHECK(hipMemcpy(host, pointer, kMost - 8, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
  CHECK(hipMemcpy2D(pointer, kQuarter, pointer, kQuarter, 16, 5, hipMemcpyDeviceToDevice) == hipErrorInvalidValue);

  std::size_t pitch = 7;
  void* made = nullptr;
  CHECK(hipHostMalloc(&made, kMost, 0) == hipErrorOutOfMemory);
  CHECK(hipHostMalloc(&made, kMost / 2, 0) == hipErrorOutOfMemory);
  CHECK(hipMallocManaged(&made, kMost, hipMemAttachGlobal) == hipErrorOutOfMemory);
  CHECK(hipMallocPitch(&made, &pitch, kMost, 1) == hipErrorInvalidValue);
  CHECK(hipMallocPitch(&made, &pitch, kMost - 300, 1) != hipSuccess);
  CHECK(pitch == 7);
}

TEST_CASE("only memory that the program has can be registered") {
  alignas(64) static char own[256];
  CHECK(hipHostRegister(own, kMost, hipHostRegisterDefault) == hipErrorInvalidValue);
  CHECK(hipHostRegister(reinterpret_cast<void*>(16), 4096, hipHostRegisterDefault) == hipErrorInvalidValue);
  CHECK_THAT(last_fault(), ContainsSubstring("not all of 4096 bytes"));
  CHECK(hipHostRegister(own, sizeof own, hipHostRegisterDefault) == hipSuccess);
  CHECK(hipHostUnregister(own) == hipSuccess);
}

}  // namespace
}  // namespace monojit::emulator::test
