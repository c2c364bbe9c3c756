// HIP events, host functions and words that streams write or wait for.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/emulator/hip_fixture.h"

namespace monojit::emulator::test {
namespace {

void raise_flag(void* flag) { static_cast<std::atomic<int>*>(flag)->store(1); }

void wait_for_flag(void* flag) {
  while (static_cast<std::atomic<int>*>(flag)->load() == 0) std::this_thread::yield();
}

void note_callback(hipStream_t, hipError_t status, void* flag) {
  static_cast<std::atomic<int>*>(flag)->store(status == hipSuccess ? 1 : -1);
}

TEST_CASE("an event is not ready until the stream has come to it, and then has a time") {
  Stream stream;
  Event first, last;
  std::atomic<int> gate{0};
  static_cast<void>(hipGetLastError());
  CHECK(hipEventQuery(first) == hipSuccess);
  REQUIRE(hipEventRecord(first, stream) == hipSuccess);
  REQUIRE(hipLaunchHostFunc(stream, wait_for_flag, &gate) == hipSuccess);
  REQUIRE(hipEventRecord(last, stream) == hipSuccess);
  CHECK(hipEventQuery(last) == hipErrorNotReady);
  CHECK(hipStreamQuery(stream) == hipErrorNotReady);
  float milliseconds = -1;
  CHECK(hipEventElapsedTime(&milliseconds, first, last) == hipErrorNotReady);
  CHECK(hipGetLastError() == hipSuccess);
  gate = 1;
  REQUIRE(hipEventSynchronize(last) == hipSuccess);
  CHECK(hipEventQuery(last) == hipSuccess);
  REQUIRE(hipEventElapsedTime(&milliseconds, first, last) == hipSuccess);
  CHECK(milliseconds >= 0);
  CHECK(hipEventElapsedTime(&milliseconds, last, first) == hipSuccess);
  CHECK(milliseconds <= 0);
}

TEST_CASE("events without a time or never recorded have no elapsed time") {
  Event recorded, never, untimed(hipEventDisableTiming);
  float milliseconds = 0;
  REQUIRE(hipEventRecord(recorded, nullptr) == hipSuccess);
  REQUIRE(hipEventRecord(untimed, nullptr) == hipSuccess);
  REQUIRE(hipDeviceSynchronize() == hipSuccess);
  CHECK(hipEventElapsedTime(&milliseconds, recorded, never) == hipErrorInvalidHandle);
  CHECK_THAT(last_fault(), ContainsSubstring("the second event was never recorded"));
  CHECK(hipEventElapsedTime(&milliseconds, untimed, recorded) == hipErrorInvalidHandle);
  hipEvent_t shared = nullptr;
  CHECK(hipEventCreateWithFlags(&shared, hipEventInterprocess | hipEventDisableTiming) == hipErrorNotSupported);
  CHECK(hipEventCreateWithFlags(&shared, 0x100) == hipErrorInvalidValue);
  CHECK(hipEventRecord(nullptr, nullptr) == hipErrorInvalidHandle);
  REQUIRE(hipEventCreate(&shared) == hipSuccess);
  REQUIRE(hipEventDestroy(shared) == hipSuccess);
  CHECK(hipEventQuery(shared) == hipErrorInvalidHandle);
  CHECK(hipEventDestroy(shared) == hipErrorInvalidHandle);
}

TEST_CASE("a stream that waits for an event starts its work behind it") {
  Stream producer, consumer;
  Event ready;
  LoadedKernel add(add_kernel());
  Words words, copy;
  std::atomic<int> gate{0};
  std::uint64_t amount = 11;
  void* arguments[] = {words.argument(), &amount};
  REQUIRE(hipLaunchHostFunc(producer, wait_for_flag, &gate) == hipSuccess);
  REQUIRE(add.launch(arguments, producer) == hipSuccess);
  REQUIRE(hipEventRecord(ready, producer) == hipSuccess);
  REQUIRE(hipStreamWaitEvent(consumer, ready, 0) == hipSuccess);
  REQUIRE(hipMemcpyAsync(copy.get(), words.get(), 256, hipMemcpyDeviceToDevice, consumer) == hipSuccess);
  CHECK(hipStreamQuery(consumer) == hipErrorNotReady);
  gate = 1;
  consumer.wait();
  CHECK(copy.download()[5] == 11);
}

TEST_CASE("callbacks and host functions run in the order of the stream") {
  Stream stream;
  std::atomic<int> callback{0}, function{0};
  REQUIRE(hipStreamAddCallback(stream, note_callback, &callback, 0) == hipSuccess);
  REQUIRE(hipLaunchHostFunc(stream, raise_flag, &function) == hipSuccess);
  stream.wait();
  CHECK(callback == 1);
  CHECK(function == 1);
  CHECK(hipLaunchHostFunc(stream, nullptr, nullptr) == hipErrorInvalidValue);
}

struct Waits {
  hipStream_t own, behind, other;
  void* memory;
  hipError_t device = hipSuccess, stream = hipSuccess, dependent = hipSuccess, copy = hipSuccess;
  hipError_t unrelated = hipErrorUnknown;
  std::string text{};
};

void wait_inside(void* data) {
  auto& waits = *static_cast<Waits*>(data);
  char bytes[16];
  waits.device = hipDeviceSynchronize();
  waits.text = last_fault();
  waits.stream = hipStreamSynchronize(waits.own);
  waits.dependent = hipStreamSynchronize(waits.behind);
  waits.copy = hipMemcpy(bytes, waits.memory, sizeof bytes, hipMemcpyDeviceToHost);  // waits for all blocking streams
  waits.unrelated = hipStreamSynchronize(waits.other);
}

TEST_CASE("a host function that waits for its own end is refused, and may wait for other streams") {
  Stream own(hipStreamDefault), behind, other;
  Event ended;
  Words words(4);
  Waits waits{.own = own, .behind = behind, .other = other, .memory = words.get()};
  std::atomic<int> gate{0};
  REQUIRE(hipLaunchHostFunc(own, wait_for_flag, &gate) == hipSuccess);
  REQUIRE(hipLaunchHostFunc(own, wait_inside, &waits) == hipSuccess);
  REQUIRE(hipEventRecord(ended, own) == hipSuccess);
  REQUIRE(hipStreamWaitEvent(behind, ended, 0) == hipSuccess);
  REQUIRE(hipLaunchHostFunc(other, raise_flag, &gate) == hipSuccess);
  behind.wait();
  CHECK(waits.device == hipErrorIllegalState);
  CHECK_THAT(waits.text, ContainsSubstring("this would never end"));
  CHECK(waits.stream == hipErrorIllegalState);
  CHECK(waits.dependent == hipErrorIllegalState);
  CHECK(waits.copy == hipErrorIllegalState);
  CHECK(waits.unrelated == hipSuccess);
  CHECK(hipDeviceSynchronize() == hipSuccess);
}

TEST_CASE("one host function may wait for another of a later stream") {
  Stream first, second;
  std::atomic<int> flag{0};
  REQUIRE(hipLaunchHostFunc(first, wait_for_flag, &flag) == hipSuccess);
  REQUIRE(hipLaunchHostFunc(second, raise_flag, &flag) == hipSuccess);
  first.wait();
  CHECK(flag == 1);
}

TEST_CASE("streams hand work over through words of memory") {
  Stream producer, consumer;
  Words words(4), copy(4);
  auto* const flag = words.get() + 2;
  REQUIRE(hipStreamWaitValue32(consumer, flag, 3, hipStreamWaitValueGte, 0xff) == hipSuccess);
  REQUIRE(hipMemcpyAsync(copy.get(), words.get(), 16, hipMemcpyDeviceToDevice, consumer) == hipSuccess);
  REQUIRE(hipStreamWriteValue32(producer, words.get(), 42, 0) == hipSuccess);
  REQUIRE(hipStreamWriteValue64(producer, flag, 0x100, 0) == hipSuccess);
  producer.wait();
  CHECK(hipStreamQuery(consumer) == hipErrorNotReady);  // masked to 0, which is less than 3
  REQUIRE(hipStreamWriteValue32(producer, flag, 0x103, 0) == hipSuccess);
  consumer.wait();
  CHECK(copy.download() == std::vector<std::uint32_t>{42, 0, 0x103, 0});
  REQUIRE(hipStreamWaitValue64(consumer, flag, 0x103, hipStreamWaitValueEq, ~std::uint64_t{0}) == hipSuccess);
  REQUIRE(hipStreamWaitValue32(consumer, flag, 0x2, hipStreamWaitValueAnd, ~0u) == hipSuccess);
  consumer.wait();
  CHECK(hipStreamWaitValue32(consumer, flag, 0, 9, ~0u) == hipErrorInvalidValue);
  CHECK(hipStreamWriteValue64(consumer, words.get() + 1, 0, 0) == hipErrorInvalidValue);
  CHECK_THAT(last_fault(), ContainsSubstring("misaligned"));
  CHECK(hipStreamWriteValue32(consumer, words.get() + 4, 0, 0) == hipErrorInvalidValue);
}

TEST_CASE("a batch of words is written in its order") {
  Stream stream;
  Words words(4);
  hipStreamBatchMemOpParams list[2] = {};
  list[0].writeValue.operation = hipStreamMemOpWriteValue64;
  list[0].writeValue.address = words.get();
  list[0].writeValue.value64 = 0x0000000200000001;
  list[1].waitValue.operation = hipStreamMemOpWaitValue32;
  list[1].waitValue.address = words.get() + 1;
  list[1].waitValue.value = 2;
  list[1].waitValue.flags = hipStreamWaitValueEq;
  REQUIRE(hipStreamBatchMemOp(stream, 2, list, 0) == hipSuccess);
  stream.wait();
  CHECK(words.download()[1] == 2);
  list[0].operation = hipStreamMemOpBarrier;
  CHECK(hipStreamBatchMemOp(stream, 1, list, 0) == hipErrorNotSupported);
}

}  // namespace
}  // namespace monojit::emulator::test
