// Graphs in tests of the HIP functions.
#pragma once

#include "tests/emulator/hip_fixture.h"

namespace monojit::emulator::test {

class Graph {
 public:
  Graph() { REQUIRE(hipGraphCreate(&graph_, 0) == hipSuccess); }
  explicit Graph(hipGraph_t graph) : graph_(graph) {}
  ~Graph() { CHECK(hipGraphDestroy(graph_) == hipSuccess); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  operator hipGraph_t() const { return graph_; }  // NOLINT(google-explicit-constructor): stands for the handle

  [[nodiscard]] std::vector<hipGraphNode_t> nodes() const {
    std::size_t count = 0;
    REQUIRE(hipGraphGetNodes(graph_, nullptr, &count) == hipSuccess);
    std::vector<hipGraphNode_t> nodes(count);
    REQUIRE(hipGraphGetNodes(graph_, nodes.data(), &count) == hipSuccess);
    return nodes;
  }
  [[nodiscard]] std::size_t edges() const {
    std::size_t count = 0;
    REQUIRE(hipGraphGetEdges(graph_, nullptr, nullptr, &count) == hipSuccess);
    return count;
  }

 private:
  hipGraph_t graph_ = nullptr;
};

class Executable {
 public:
  explicit Executable(hipGraph_t graph) {
    REQUIRE(hipGraphInstantiate(&exec_, graph, nullptr, nullptr, 0) == hipSuccess);
  }
  ~Executable() { CHECK(hipGraphExecDestroy(exec_) == hipSuccess); }
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  operator hipGraphExec_t() const { return exec_; }  // NOLINT(google-explicit-constructor): stands for the handle

 private:
  hipGraphExec_t exec_ = nullptr;
};

template <class Body>
hipGraph_t captured(hipStream_t stream, Body body) {
  REQUIRE(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal) == hipSuccess);
  body();
  hipGraph_t graph = nullptr;
  REQUIRE(hipStreamEndCapture(stream, &graph) == hipSuccess);
  return graph;
}

inline hipGraphNodeType type_of(hipGraphNode_t node) {
  hipGraphNodeType type = hipGraphNodeTypeCount;
  REQUIRE(hipGraphNodeGetType(node, &type) == hipSuccess);
  return type;
}

}  // namespace monojit::emulator::test
