// Graphs of work, and their executable form.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "runtime/emulator/hip/errors.h"
#include "runtime/emulator/hip/work.h"

/// A node; the handle type that HIP's headers leave open.
struct hipGraphNode {
  monojit::emulator::Work work;
  std::vector<hipGraphNode*> dependencies{};  ///< of the same graph
  ihipGraph* graph = nullptr;
  monojit::emulator::u64 number = 0;       ///< unique in the process
  monojit::emulator::u64 original = 0;     ///< in a clone: the number of the node that it was made from
  std::vector<void*> argument_pointers{};  ///< what the parameters of a kernel node were told with
};

struct ihipGraph : std::enable_shared_from_this<ihipGraph> {
 public:
  ihipGraph();
  ~ihipGraph();
  ihipGraph(const ihipGraph&) = delete;
  ihipGraph& operator=(const ihipGraph&) = delete;

  std::vector<std::unique_ptr<hipGraphNode>> nodes;

  hipGraphNode* add(monojit::emulator::Work work, std::vector<hipGraphNode*> dependencies);
  [[nodiscard]] bool holds(const hipGraphNode* node) const;
  /// With all nodes, and children cloned too.
  [[nodiscard]] std::shared_ptr<ihipGraph> clone() const;
  /// Nodes, each behind those that it depends on. Throws HipError (hipErrorInvalidValue) for a cycle.
  [[nodiscard]] std::vector<const hipGraphNode*> ordered() const;
};

namespace monojit::emulator {

/// Every call on graphs takes this lock: graphs are not for several threads at once, but mistakes must not corrupt
/// them.
[[nodiscard]] std::unique_lock<std::recursive_mutex> lock_graphs();

/// Throw HipError (hipErrorInvalidValue) for handles that are none. Call with the lock.
ihipGraph& checked_graph(hipGraph_t graph);
hipGraphNode& checked_node(hipGraphNode_t node);

/// Graphs that the program holds by handle.
hipGraph_t keep_graph(std::shared_ptr<ihipGraph> graph);
void drop_graph(hipGraph_t graph);

[[nodiscard]] hipGraphNodeType node_type(const Work& work);
[[nodiscard]] const char* node_type_name(hipGraphNodeType type);

/// The node's work as the kind that a call asks for. Throws HipError (hipErrorInvalidValue) naming both.
template <class Kind>
Kind& work_as(hipGraphNode& node, const char* wanted) {
  Kind* const found = std::get_if<Kind>(&node.work);
  if (found == nullptr) {
    throw HipError(hipErrorInvalidValue,
                   std::string("graph: a ") + node_type_name(node_type(node.work)) + " node is no " + wanted + " node");
  }
  return *found;
}

}  // namespace monojit::emulator
