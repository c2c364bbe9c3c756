// HIP stream capture: what is recorded, over forks and joins, and what a capture forbids.
#include <thread>

#include "tests/emulator/hip_graph_fixture.h"

namespace monojit::emulator::test {
namespace {

constexpr int kManyReplays = 10'000;

TEST_CASE("a captured sequence does nothing until it is launched, and then the same each time") {
  LoadedKernel add(add_kernel());
  Words words;
  Stream stream;
  std::uint64_t amount = 2;
  void* arguments[] = {words.argument(), &amount};
  Graph graph(captured(stream, [&] {
    hipStreamCaptureStatus status{};
    CHECK(hipStreamIsCapturing(stream, &status) == hipSuccess);
    CHECK(status == hipStreamCaptureStatusActive);
    REQUIRE(add.launch(arguments, stream) == hipSuccess);
    REQUIRE(add.launch(arguments, stream) == hipSuccess);
    amount = 100;  // the arguments were taken at the launch
  }));
  CHECK(graph.nodes().size() == 2);
  CHECK(graph.edges() == 1);
  CHECK(words.download()[0] == 0);
  Executable exec(graph);
  CHECK(hipGraphUpload(exec, stream) == hipSuccess);
  for (int i = 0; i < 3; ++i) REQUIRE(hipGraphLaunch(exec, stream) == hipSuccess);
  stream.wait();
  CHECK(words.download() == std::vector<std::uint32_t>(64, 12));
}

TEST_CASE("a graph is replayed ten thousand times") {
  LoadedKernel add(add_kernel());
  Words words;
  Stream stream;
  std::uint64_t amount = 1;
  void* arguments[] = {words.argument(), &amount};
  Graph graph(captured(stream, [&] { REQUIRE(add.launch(arguments, stream) == hipSuccess); }));
  Executable exec(graph);
  for (int i = 0; i < kManyReplays; ++i) REQUIRE(hipGraphLaunch(exec, stream) == hipSuccess);
  stream.wait();
  CHECK(words.download() == std::vector<std::uint32_t>(64, kManyReplays));
}

TEST_CASE("a capture forks and joins over events") {
  LoadedKernel add(add_kernel());
  Words left, right, sum(128);
  Stream main, side;
  Event fork, join;
  std::uint64_t amount = 4;
  void *to_left[] = {left.argument(), &amount}, *to_right[] = {right.argument(), &amount};
  Graph graph(captured(main, [&] {
    REQUIRE(hipMemsetAsync(left.get(), 0, 256, main) == hipSuccess);
    REQUIRE(hipEventRecord(fork, main) == hipSuccess);
    REQUIRE(hipStreamWaitEvent(side, fork, 0) == hipSuccess);
    REQUIRE(add.launch(to_right, side) == hipSuccess);
    REQUIRE(add.launch(to_left, main) == hipSuccess);
    REQUIRE(hipEventRecord(join, side) == hipSuccess);
    REQUIRE(hipStreamWaitEvent(main, join, 0) == hipSuccess);
    REQUIRE(hipMemcpyAsync(sum.get(), left.get(), 256, hipMemcpyDeviceToDevice, main) == hipSuccess);
    REQUIRE(hipMemcpyAsync(sum.get() + 64, right.get(), 256, hipMemcpyDeviceToDevice, main) == hipSuccess);
  }));
  CHECK(graph.nodes().size() == 5);
  CHECK(graph.edges() == 5);
  Executable exec(graph);
  REQUIRE(hipGraphLaunch(exec, main) == hipSuccess);
  REQUIRE(hipGraphLaunch(exec, main) == hipSuccess);
  main.wait();
  const auto result = sum.download();
  CHECK(result[0] == 4);    // cleared each time
  CHECK(result[127] == 8);  // never cleared
}

TEST_CASE("a capture that leaves a stream unjoined, or ends in the wrong one, is refused") {
  Stream main, side;
  Event fork;
  Words words;
  hipGraph_t graph = nullptr;
  REQUIRE(hipStreamBeginCapture(main, hipStreamCaptureModeGlobal) == hipSuccess);
  CHECK(hipStreamBeginCapture(main, hipStreamCaptureModeGlobal) == hipErrorIllegalState);
  REQUIRE(hipEventRecord(fork, main) == hipSuccess);
  REQUIRE(hipStreamWaitEvent(side, fork, 0) == hipSuccess);
  REQUIRE(hipMemsetAsync(words.get(), 1, 4, side) == hipSuccess);
  CHECK(hipStreamEndCapture(main, &graph) == hipErrorStreamCaptureUnjoined);
  CHECK(graph == nullptr);

  REQUIRE(hipStreamBeginCapture(main, hipStreamCaptureModeGlobal) == hipSuccess);
  REQUIRE(hipEventRecord(fork, main) == hipSuccess);
  REQUIRE(hipStreamWaitEvent(side, fork, 0) == hipSuccess);
  CHECK(hipStreamEndCapture(side, &graph) == hipErrorStreamCaptureUnmatched);
  CHECK(hipStreamEndCapture(main, &graph) == hipErrorStreamCaptureInvalidated);
  CHECK(hipStreamEndCapture(main, &graph) == hipErrorIllegalState);
  CHECK(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal) == hipErrorStreamCaptureUnsupported);
}

/// Begins a capture, makes the call, and expects its error and an invalidated capture.
template <class Call>
void check_forbidden(hipError_t expected, Call call) {
  Stream stream(hipStreamDefault);
  hipGraph_t graph = nullptr;
  REQUIRE(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal) == hipSuccess);
  CHECK(call(stream) == expected);
  hipStreamCaptureStatus status{};
  CHECK(hipStreamIsCapturing(stream, &status) == hipSuccess);
  CHECK(status == hipStreamCaptureStatusInvalidated);
  CHECK(hipStreamEndCapture(stream, &graph) == hipErrorStreamCaptureInvalidated);
}

TEST_CASE("what can't be captured invalidates the capture") {
  Words words;
  void* memory = nullptr;
  Event outside;
  REQUIRE(hipEventRecord(outside, nullptr) == hipSuccess);
  check_forbidden(hipErrorStreamCaptureUnsupported, [](hipStream_t stream) { return hipStreamSynchronize(stream); });
  check_forbidden(hipErrorStreamCaptureUnsupported, [](hipStream_t stream) { return hipStreamQuery(stream); });
  check_forbidden(hipErrorStreamCaptureUnsupported, [](hipStream_t) { return hipDeviceSynchronize(); });
  check_forbidden(hipErrorStreamCaptureUnsupported, [&](hipStream_t) { return hipMalloc(&memory, 64); });
  check_forbidden(hipErrorStreamCaptureUnsupported, [&](hipStream_t) { return hipMemset(words.get(), 0, 4); });
  check_forbidden(hipErrorStreamCaptureImplicit,
                  [&](hipStream_t) { return hipMemsetAsync(words.get(), 0, 4, nullptr); });
  check_forbidden(hipErrorStreamCaptureIsolation,
                  [&](hipStream_t stream) { return hipStreamWaitEvent(stream, outside, 0); });
  check_forbidden(hipErrorCapturedEvent, [](hipStream_t stream) {
    Event inside;
    REQUIRE(hipEventRecord(inside, stream) == hipSuccess);
    return hipEventQuery(inside);
  });
  CHECK(hipGetLastError() != hipSuccess);
}

TEST_CASE("a relaxed thread or a relaxed capture forbids less, and another thread may end it") {
  Stream stream;
  void* memory = nullptr;
  hipGraph_t graph = nullptr;
  REQUIRE(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal) == hipSuccess);
  hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
  REQUIRE(hipThreadExchangeStreamCaptureMode(&mode) == hipSuccess);
  CHECK(mode == hipStreamCaptureModeGlobal);
  REQUIRE(hipMalloc(&memory, 64) == hipSuccess);
  REQUIRE(hipFree(memory) == hipSuccess);
  REQUIRE(hipThreadExchangeStreamCaptureMode(&mode) == hipSuccess);
  hipError_t elsewhere = hipSuccess;
  std::thread([&] { elsewhere = hipStreamEndCapture(stream, &graph); }).join();
  CHECK(elsewhere == hipErrorStreamCaptureWrongThread);
  REQUIRE(hipStreamEndCapture(stream, &graph) == hipSuccess);
  CHECK(hipGraphDestroy(graph) == hipSuccess);

  REQUIRE(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal) == hipSuccess);
  std::thread([&] { elsewhere = hipMalloc(&memory, 64); }).join();
  CHECK(elsewhere == hipSuccess);
  REQUIRE(hipStreamEndCapture(stream, &graph) == hipSuccess);
  CHECK(hipGraphDestroy(graph) == hipSuccess);
  CHECK(hipFree(memory) == hipSuccess);

  REQUIRE(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed) == hipSuccess);
  std::thread([&] { elsewhere = hipStreamEndCapture(stream, &graph); }).join();
  CHECK(elsewhere == hipSuccess);
  CHECK(hipGraphDestroy(graph) == hipSuccess);
}

TEST_CASE("memory allocated in a capture belongs to the graph and stays at its address") {
  Stream stream;
  Words result;
  void* temporary = nullptr;
  hipGraphExec_t exec = nullptr;
  {
    Graph graph(captured(stream, [&] {
      REQUIRE(hipMallocAsync(&temporary, 256, stream) == hipSuccess);
      REQUIRE(hipMemsetD32Async(temporary, 77, 64, stream) == hipSuccess);
      REQUIRE(hipMemcpyAsync(result.get(), temporary, 256, hipMemcpyDeviceToDevice, stream) == hipSuccess);
      REQUIRE(hipFreeAsync(temporary, stream) == hipSuccess);
    }));
    const auto nodes = graph.nodes();
    REQUIRE(nodes.size() == 4);
    CHECK(type_of(nodes[0]) == hipGraphNodeTypeMemAlloc);
    CHECK(type_of(nodes[3]) == hipGraphNodeTypeMemFree);
    hipMemAllocNodeParams parameters{};
    REQUIRE(hipGraphMemAllocNodeGetParams(nodes[0], &parameters) == hipSuccess);
    CHECK(parameters.dptr == temporary);
    CHECK(parameters.bytesize == 256);
    REQUIRE(hipGraphInstantiateWithFlags(&exec, graph, hipGraphInstantiateFlagAutoFreeOnLaunch) == hipSuccess);
  }
  for (int i = 0; i < 3; ++i) {
    REQUIRE(hipMemset(result.get(), 0, 256) == hipSuccess);
    REQUIRE(hipGraphLaunch(exec, stream) == hipSuccess);
    stream.wait();
    CHECK(result.download() == std::vector<std::uint32_t>(64, 77));
  }
  REQUIRE(hipGraphExecDestroy(exec) == hipSuccess);
  CHECK(hipMemset(temporary, 0, 4) == hipErrorInvalidValue);
}

}  // namespace
}  // namespace monojit::emulator::test
