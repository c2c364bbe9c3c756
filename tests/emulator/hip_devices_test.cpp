// Streams and devices as a host program sees them. The process has eight devices.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <hip/hip_runtime_api.h>

#include "runtime/emulator/emulator.h"
#include "tests/emulator/ring.h"

namespace monojit::emulator::test {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr int kDevices = 8;
constexpr std::uint64_t kTurns = 10;
constexpr std::chrono::milliseconds kHostDelay{100};

// Before the first test: the devices are made once a process.
[[maybe_unused]] const bool kConfigured = setenv("MONOJIT_EMULATOR_DEVICES", "8", 1) == 0;

/// The ring's kernel and mailbox on one device.
struct RingRank {
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  char* mailbox = nullptr;  ///< the result stands 256 bytes behind
  hipStream_t stream = nullptr;

  void make(int device) {
    static const auto object = assemble(bounded_ring());
    REQUIRE(hipSetDevice(device) == hipSuccess);
    REQUIRE(hipModuleLoadData(&module, object.data()) == hipSuccess);
    REQUIRE(hipModuleGetFunction(&function, module, "ring") == hipSuccess);
    REQUIRE(hipMalloc(reinterpret_cast<void**>(&mailbox), 4096) == hipSuccess);
    REQUIRE(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking) == hipSuccess);
  }
  void destroy() const {
    CHECK(hipStreamDestroy(stream) == hipSuccess);
    CHECK(hipFree(mailbox) == hipSuccess);
    CHECK(hipModuleUnload(module) == hipSuccess);
  }
  hipError_t launch(char* own, char* next, std::uint64_t rank, hipStream_t on) const {
    std::uint64_t turns = kTurns;
    char* result = mailbox + 256;
    void* arguments[] = {&own, &next, &rank, &turns, &result};
    return hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, on, arguments, nullptr);
  }
  [[nodiscard]] std::uint32_t result() const {
    std::uint32_t value = 0;
    CHECK(hipMemcpy(&value, mailbox + 256, sizeof value, hipMemcpyDeviceToHost) == hipSuccess);
    return value;
  }
};

TEST_CASE("eight devices of one process run persistent kernels that wait on each other") {
  int count = 0;
  REQUIRE(hipGetDeviceCount(&count) == hipSuccess);
  REQUIRE(count == kDevices);
  std::array<RingRank, kDevices> ranks;
  for (int i = 0; i < kDevices; ++i) ranks[i].make(i);
  for (int i = 0; i < kDevices; ++i) {
    REQUIRE(hipSetDevice(i) == hipSuccess);
    int possible = 0;
    const int next = (i + 1) % kDevices;
    REQUIRE(hipDeviceCanAccessPeer(&possible, i, next) == hipSuccess);
    REQUIRE(possible == 1);
    REQUIRE(hipDeviceEnablePeerAccess(next, 0) == hipSuccess);
    CHECK(hipDeviceEnablePeerAccess(next, 0) == hipErrorPeerAccessAlreadyEnabled);
  }
  for (int i = 0; i < kDevices; ++i) {
    REQUIRE(ranks[i].launch(ranks[i].mailbox, ranks[(i + 1) % kDevices].mailbox, i, ranks[i].stream) == hipSuccess);
  }
  for (const RingRank& rank : ranks) CHECK(hipStreamSynchronize(rank.stream) == hipSuccess);
  for (int i = 0; i < kDevices; ++i) {
    REQUIRE(hipSetDevice(i) == hipSuccess);
    CHECK(ranks[i].result() == kCameRound);
    CHECK(hipDeviceDisablePeerAccess((i + 1) % kDevices) == hipSuccess);
    CHECK(hipDeviceDisablePeerAccess((i + 1) % kDevices) == hipErrorPeerAccessNotEnabled);
  }
  for (const RingRank& rank : ranks) rank.destroy();
  REQUIRE(hipSetDevice(0) == hipSuccess);
}

TEST_CASE("eight host threads, one a device, meet in their kernels") {
  std::array<RingRank, kDevices> ranks;
  for (int i = 0; i < kDevices; ++i) {
    ranks[i].make(i);
    REQUIRE(hipDeviceEnablePeerAccess((i + 1) % kDevices, 0) == hipSuccess);
  }
  std::array<hipError_t, kDevices> errors{};
  std::vector<std::thread> threads;
  for (int i = 0; i < kDevices; ++i) {
    threads.emplace_back([&, i] {
      errors[i] = hipSetDevice(i);
      std::this_thread::sleep_for(std::chrono::milliseconds(10 * i));
      if (errors[i] == hipSuccess)
        errors[i] = ranks[i].launch(ranks[i].mailbox, ranks[(i + 1) % kDevices].mailbox, i, nullptr);
      if (errors[i] == hipSuccess) errors[i] = hipDeviceSynchronize();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kDevices; ++i) {
    CHECK(errors[i] == hipSuccess);
    REQUIRE(hipSetDevice(i) == hipSuccess);
    CHECK(ranks[i].result() == kCameRound);
    REQUIRE(hipDeviceDisablePeerAccess((i + 1) % kDevices) == hipSuccess);
    ranks[i].destroy();
  }
  REQUIRE(hipSetDevice(0) == hipSuccess);
}

TEST_CASE("a kernel that waits for the host sees what the host writes, and the host that polls sees the kernel end") {
  RingRank rank;
  rank.make(0);
  char* shared = nullptr;
  REQUIRE(hipHostMalloc(reinterpret_cast<void**>(&shared), 4096, 0) == hipSuccess);
  std::memset(shared, 0, 4096);
  // As rank 1 of two, the host being rank 0.
  REQUIRE(rank.launch(shared, shared + 64, 1, rank.stream) == hipSuccess);
  auto* const to_kernel = reinterpret_cast<volatile std::uint32_t*>(shared);
  const auto* const from_kernel = reinterpret_cast<volatile std::uint32_t*>(shared + 64);
  CHECK(hipStreamQuery(rank.stream) == hipErrorNotReady);
  for (std::uint32_t turn = 1; turn <= kTurns; ++turn) {
    if (turn == 2) std::this_thread::sleep_for(kHostDelay);
    *to_kernel = turn;
    while (*from_kernel != turn) std::this_thread::yield();
  }
  hipError_t error = hipErrorNotReady;
  while (error == hipErrorNotReady) error = hipStreamQuery(rank.stream);
  CHECK(error == hipSuccess);
  CHECK(rank.result() == kCameRound);
  CHECK(hipHostFree(shared) == hipSuccess);
  rank.destroy();
}

TEST_CASE("work of a stream keeps its order, streams run side by side, and events order them") {
  RingRank rank;
  rank.make(0);
  hipStream_t other = nullptr;
  REQUIRE(hipStreamCreateWithFlags(&other, hipStreamNonBlocking) == hipSuccess);
  std::uint32_t* host = nullptr;
  REQUIRE(hipHostMalloc(reinterpret_cast<void**>(&host), 4096, 0) == hipSuccess);
  std::memset(host, 0, 4096);
  hipEvent_t ended = nullptr;
  REQUIRE(hipEventCreate(&ended) == hipSuccess);
  char* const mailbox = rank.mailbox;
  // The kernel is rank 1 and waits for `other` to play rank 0; a copy behind it must see its answer.
  REQUIRE(rank.launch(mailbox, mailbox + 64, 1, rank.stream) == hipSuccess);
  REQUIRE(hipMemcpyAsync(host, mailbox + 64, 4, hipMemcpyDeviceToHost, rank.stream) == hipSuccess);
  REQUIRE(hipEventRecord(ended, rank.stream) == hipSuccess);
  CHECK(hipEventQuery(ended) == hipErrorNotReady);
  CHECK(host[0] == 0);
  for (std::uint32_t turn = 1; turn <= kTurns; ++turn) {
    host[8] = turn;
    REQUIRE(hipMemcpyAsync(mailbox, host + 8, 4, hipMemcpyHostToDevice, other) == hipSuccess);
    REQUIRE(hipStreamSynchronize(other) == hipSuccess);
  }
  REQUIRE(hipStreamWaitEvent(other, ended, 0) == hipSuccess);
  REQUIRE(hipMemsetAsync(mailbox + 64, 0xff, 4, other) == hipSuccess);
  REQUIRE(hipStreamSynchronize(other) == hipSuccess);
  CHECK(hipEventQuery(ended) == hipSuccess);
  CHECK(host[0] == kTurns);
  CHECK(hipEventDestroy(ended) == hipSuccess);
  CHECK(hipStreamDestroy(other) == hipSuccess);
  CHECK(hipHostFree(host) == hipSuccess);
  rank.destroy();
}

TEST_CASE("the default stream waits for blocking streams and they for it; host functions keep their place") {
  RingRank rank;
  rank.make(0);
  hipStream_t blocking = nullptr;
  REQUIRE(hipStreamCreate(&blocking) == hipSuccess);
  std::vector<int> order;
  const auto note = [](void* data) {
    auto& [list, number] = *static_cast<std::pair<std::vector<int>*, int>*>(data);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    list->push_back(number);
  };
  std::array<std::pair<std::vector<int>*, int>, 4> notes;
  for (int i = 0; i < 4; ++i) notes[i] = {&order, i};
  for (int i = 0; i < 4; ++i) {
    REQUIRE(hipLaunchHostFunc(i % 2 == 0 ? blocking : nullptr, note, &notes[i]) == hipSuccess);
  }
  REQUIRE(hipStreamSynchronize(nullptr) == hipSuccess);
  CHECK(order == std::vector{0, 1, 2, 3});
  CHECK(hipStreamDestroy(blocking) == hipSuccess);
  CHECK(hipStreamQuery(blocking) == hipErrorInvalidValue);
  rank.destroy();
}

TEST_CASE("a failure stays with its device, and work queued behind it is dropped") {
  RingRank bad, good;
  bad.make(1);
  char* no_memory = nullptr;
  REQUIRE(bad.launch(no_memory, no_memory, 1, bad.stream) == hipSuccess);
  REQUIRE(hipMemsetAsync(bad.mailbox, 0xff, 4, bad.stream) == hipSuccess);
  CHECK(hipDeviceSynchronize() == hipErrorIllegalAddress);
  CHECK(*bad.mailbox == 0);
  good.make(2);
  CHECK(hipDeviceSynchronize() == hipSuccess);
  // Memory of device 2 without peer access.
  REQUIRE(hipSetDevice(1) == hipSuccess);
  REQUIRE(bad.launch(good.mailbox, good.mailbox, 1, bad.stream) == hipSuccess);
  CHECK(hipStreamSynchronize(bad.stream) == hipErrorIllegalAddress);
  CHECK_THAT(std::string(monojitEmulatorLastFault()),
             ContainsSubstring("kernel ring: load of 4 bytes") &&
                 ContainsSubstring("memory of device 2, which device 1 has no peer access to"));
  CHECK(bad.launch(bad.mailbox, bad.mailbox, 0, good.stream) == hipErrorInvalidValue);
  CHECK_THAT(std::string(monojitEmulatorLastFault()),
             ContainsSubstring("its module was loaded on device 1, the stream belongs to device 2"));
  bad.destroy();
  good.destroy();
  REQUIRE(hipSetDevice(0) == hipSuccess);
  CHECK(hipSetDevice(kDevices) == hipErrorInvalidDevice);
}

}  // namespace
}  // namespace monojit::emulator::test
