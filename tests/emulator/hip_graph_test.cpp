// HIP graphs: built by hand, launched, changed, cloned, and what is refused.
#include "tests/emulator/hip_graph_fixture.h"

namespace monojit::emulator::test {
namespace {

hipKernelNodeParams parameters_of(const LoadedKernel& kernel, void** arguments) {
  hipKernelNodeParams parameters{};
  parameters.func = kernel.function();
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(64);
  parameters.kernelParams = arguments;
  return parameters;
}

void add_one(void* number) { ++*static_cast<int*>(number); }

TEST_CASE("a graph built by hand runs every kind of node in the order of its edges") {
  LoadedKernel scale(scale_kernel());
  Words in, out;
  std::vector<std::uint32_t> host(64);
  std::uint64_t factor = 3;
  int calls = 0;
  Event done;
  Graph graph;
  hipMemsetParams fill{.dst = in.get(), .elementSize = 4, .height = 1, .pitch = 0, .value = 5, .width = 64};
  void* arguments[] = {in.argument(), out.argument(), &factor};
  const hipKernelNodeParams kernel = parameters_of(scale, arguments);
  const hipHostNodeParams call{add_one, &calls};
  hipGraphNode_t memset_node{}, kernel_node{}, copy_node{}, host_node{}, record_node{}, empty_node{};
  REQUIRE(hipGraphAddMemsetNode(&memset_node, graph, nullptr, 0, &fill) == hipSuccess);
  REQUIRE(hipGraphAddKernelNode(&kernel_node, graph, &memset_node, 1, &kernel) == hipSuccess);
  REQUIRE(hipGraphAddMemcpyNode1D(&copy_node, graph, &kernel_node, 1, host.data(), out.get(), 256,
                                  hipMemcpyDeviceToHost) == hipSuccess);
  REQUIRE(hipGraphAddHostNode(&host_node, graph, &copy_node, 1, &call) == hipSuccess);
  REQUIRE(hipGraphAddEmptyNode(&empty_node, graph, nullptr, 0) == hipSuccess);
  REQUIRE(hipGraphAddDependencies(graph, &host_node, &empty_node, 1) == hipSuccess);
  REQUIRE(hipGraphAddEventRecordNode(&record_node, graph, &empty_node, 1, done) == hipSuccess);

  std::size_t roots = 0, before = 0, behind = 0;
  REQUIRE(hipGraphGetRootNodes(graph, nullptr, &roots) == hipSuccess);
  CHECK(roots == 1);
  REQUIRE(hipGraphNodeGetDependencies(copy_node, nullptr, &before) == hipSuccess);
  REQUIRE(hipGraphNodeGetDependentNodes(host_node, nullptr, &behind) == hipSuccess);
  CHECK(before == 1);
  CHECK(behind == 1);
  hipKernelNodeParams told{};
  REQUIRE(hipGraphKernelNodeGetParams(kernel_node, &told) == hipSuccess);
  CHECK(told.func == kernel.func);
  CHECK(told.blockDim.x == 64);
  CHECK(*static_cast<std::uint64_t*>(told.kernelParams[2]) == 3);
  hipMemsetParams fill_told{};
  REQUIRE(hipGraphMemsetNodeGetParams(memset_node, &fill_told) == hipSuccess);
  CHECK(fill_told.width == 64);
  CHECK(hipGraphMemsetNodeGetParams(kernel_node, &fill_told) == hipErrorInvalidValue);
  CHECK_THAT(last_fault(), ContainsSubstring("a kernel node is no memset node"));

  Executable exec(graph);
  REQUIRE(hipGraphLaunch(exec, nullptr) == hipSuccess);
  REQUIRE(hipEventSynchronize(done) == hipSuccess);
  CHECK(host == std::vector<std::uint32_t>(64, 15));
  CHECK(calls == 1);

  factor = 10;
  REQUIRE(hipGraphExecKernelNodeSetParams(exec, kernel_node, &kernel) == hipSuccess);
  fill.value = 6;
  REQUIRE(hipGraphExecMemsetNodeSetParams(exec, memset_node, &fill) == hipSuccess);
  REQUIRE(hipGraphNodeSetEnabled(exec, host_node, 0) == hipSuccess);
  REQUIRE(hipGraphLaunch(exec, nullptr) == hipSuccess);
  REQUIRE(hipDeviceSynchronize() == hipSuccess);
  CHECK(host == std::vector<std::uint32_t>(64, 60));
  CHECK(calls == 1);
}

TEST_CASE("an executable graph takes the parameters of a graph of the same shape, and no other") {
  LoadedKernel add(add_kernel());
  Words words;
  Stream stream;
  std::uint64_t amount = 1;
  void* arguments[] = {words.argument(), &amount};
  const auto record = [&](bool twice) {
    return captured(stream, [&] {
      REQUIRE(add.launch(arguments, stream) == hipSuccess);
      if (twice) REQUIRE(hipMemsetAsync(words.get(), 0, 4, stream) == hipSuccess);
    });
  };
  Graph first(record(false));
  Executable exec(first);
  amount = 50;
  Graph second(record(false)), longer(record(true));
  hipGraphNode_t node = nullptr;
  hipGraphExecUpdateResult result{};
  REQUIRE(hipGraphExecUpdate(exec, second, &node, &result) == hipSuccess);
  CHECK(result == hipGraphExecUpdateSuccess);
  REQUIRE(hipGraphLaunch(exec, stream) == hipSuccess);
  stream.wait();
  CHECK(words.download()[9] == 50);
  CHECK(hipGraphExecUpdate(exec, longer, &node, &result) == hipErrorGraphExecUpdateFailure);
  CHECK(result == hipGraphExecUpdateErrorTopologyChanged);
  CHECK(node == longer.nodes()[1]);
  Graph fills(captured(stream, [&] { REQUIRE(hipMemsetAsync(words.get(), 0, 4, stream) == hipSuccess); }));
  CHECK(hipGraphExecUpdate(exec, fills, &node, &result) == hipErrorGraphExecUpdateFailure);
  CHECK(result == hipGraphExecUpdateErrorNodeTypeChanged);
}

TEST_CASE("graphs contain graphs, are cloned, and a launch can be captured") {
  LoadedKernel add(add_kernel());
  Words words;
  Stream stream;
  std::uint64_t amount = 1;
  void* arguments[] = {words.argument(), &amount};
  Graph child(captured(stream, [&] { REQUIRE(add.launch(arguments, stream) == hipSuccess); }));
  Graph parent;
  hipGraphNode_t first{}, second{};
  REQUIRE(hipGraphAddChildGraphNode(&first, parent, nullptr, 0, child) == hipSuccess);
  REQUIRE(hipGraphAddChildGraphNode(&second, parent, &first, 1, child) == hipSuccess);
  hipGraph_t copy = nullptr;
  REQUIRE(hipGraphClone(&copy, parent) == hipSuccess);
  Graph clone(copy);
  hipGraphNode_t twin = nullptr;
  REQUIRE(hipGraphNodeFindInClone(&twin, second, clone) == hipSuccess);
  CHECK(twin == clone.nodes()[1]);
  Executable exec(clone);
  REQUIRE(hipGraphLaunch(exec, stream) == hipSuccess);
  Graph around(captured(stream, [&] { REQUIRE(hipGraphLaunch(exec, stream) == hipSuccess); }));
  REQUIRE(around.nodes().size() == 1);
  CHECK(type_of(around.nodes()[0]) == hipGraphNodeTypeGraph);
  Executable outer(around);
  REQUIRE(hipGraphLaunch(outer, stream) == hipSuccess);
  stream.wait();
  CHECK(words.download()[0] == 4);
}

TEST_CASE("cycles, foreign nodes and dead handles are refused") {
  Graph graph, other;
  hipGraphNode_t a{}, b{}, foreign{};
  REQUIRE(hipGraphAddEmptyNode(&a, graph, nullptr, 0) == hipSuccess);
  REQUIRE(hipGraphAddEmptyNode(&b, graph, &a, 1) == hipSuccess);
  REQUIRE(hipGraphAddEmptyNode(&foreign, other, nullptr, 0) == hipSuccess);
  CHECK(hipGraphAddDependencies(graph, &a, &foreign, 1) == hipErrorInvalidValue);
  CHECK(hipGraphAddDependencies(graph, &a, &b, 1) == hipErrorInvalidValue);
  REQUIRE(hipGraphAddDependencies(graph, &b, &a, 1) == hipSuccess);
  hipGraphExec_t exec = nullptr;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0) == hipErrorInvalidValue);
  CHECK_THAT(last_fault(), ContainsSubstring("cycle"));
  REQUIRE(hipGraphRemoveDependencies(graph, &b, &a, 1) == hipSuccess);
  CHECK(hipGraphRemoveDependencies(graph, &b, &a, 1) == hipErrorInvalidValue);
  REQUIRE(hipGraphDestroyNode(a) == hipSuccess);
  CHECK(hipGraphDestroyNode(a) == hipErrorInvalidValue);
  CHECK(graph.nodes().size() == 1);
  CHECK(hipGraphInstantiateWithFlags(&exec, graph, hipGraphInstantiateFlagDeviceLaunch) == hipErrorNotSupported);
  CHECK(hipGraphLaunch(nullptr, nullptr) == hipErrorInvalidValue);
  CHECK(hipGraphDestroy(nullptr) == hipErrorInvalidValue);
}

TEST_CASE("a graph whose module is gone, or whose memory was freed, says so") {
  Stream stream;
  void* memory = nullptr;
  hipGraphExec_t exec = nullptr;
  {
    LoadedKernel add(add_kernel());
    Words words;
    std::uint64_t amount = 1;
    void* arguments[] = {words.argument(), &amount};
    Graph graph(captured(stream, [&] { REQUIRE(add.launch(arguments, stream) == hipSuccess); }));
    REQUIRE(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0) == hipSuccess);
  }
  CHECK(hipGraphLaunch(exec, stream) == hipErrorInvalidValue);
  CHECK_THAT(last_fault(), ContainsSubstring("not a function of a loaded module"));
  CHECK(hipGraphExecDestroy(exec) == hipSuccess);

  REQUIRE(hipMalloc(&memory, 64) == hipSuccess);
  Graph graph(captured(stream, [&] { REQUIRE(hipMemsetAsync(memory, 0, 64, stream) == hipSuccess); }));
  Executable fills(graph);
  REQUIRE(hipFree(memory) == hipSuccess);
  REQUIRE(hipGraphLaunch(fills, stream) == hipSuccess);
  CHECK(hipStreamSynchronize(stream) == hipErrorInvalidValue);
  CHECK_THAT(last_fault(), ContainsSubstring("inside the freed allocation"));
  // The failure is told until a launch succeeds.
  LoadedKernel add(add_kernel());
  Words words;
  std::uint64_t amount = 1;
  void* arguments[] = {words.argument(), &amount};
  REQUIRE(add.launch(arguments, stream) == hipSuccess);
  stream.wait();
}

}  // namespace
}  // namespace monojit::emulator::test
