#include "runtime/emulator/hip/graph.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace monojit::emulator {
namespace {

/// Everything alive, by handle.
struct Registry {
  std::recursive_mutex mutex;
  std::set<const ihipGraph*> graphs;
  std::map<hipGraph_t, std::shared_ptr<ihipGraph>> kept;
  u64 next_number = 1;
};

Registry& registry() {
  static Registry* const instance = new Registry;  // never destroyed: handles may outlive any order of destruction
  return *instance;
}

}  // namespace

std::unique_lock<std::recursive_mutex> lock_graphs() { return std::unique_lock(registry().mutex); }

ihipGraph& checked_graph(hipGraph_t graph) {
  if (!registry().graphs.contains(graph)) refuse_value(fmt::format("{} is not a graph", static_cast<void*>(graph)));
  return *graph;
}

hipGraphNode& checked_node(hipGraphNode_t node) {
  for (const ihipGraph* graph : registry().graphs) {
    if (graph->holds(node)) return *node;
  }
  refuse_value(fmt::format("{} is not a node of a graph", static_cast<void*>(node)));
}

hipGraph_t keep_graph(std::shared_ptr<ihipGraph> graph) {
  const auto lock = lock_graphs();
  const hipGraph_t handle = graph.get();
  registry().kept[handle] = std::move(graph);
  return handle;
}

void drop_graph(hipGraph_t graph) {
  const auto lock = lock_graphs();
  if (registry().kept.erase(graph) == 0)
    refuse_value(fmt::format("{} is not a graph that the program owns", static_cast<void*>(graph)));
}

hipGraphNodeType node_type(const Work& work) {
  constexpr hipGraphNodeType kTypes[] = {
      hipGraphNodeTypeEmpty,   hipGraphNodeTypeKernel,      hipGraphNodeTypeMemcpy,    hipGraphNodeTypeMemset,
      hipGraphNodeTypeHost,    hipGraphNodeTypeEventRecord, hipGraphNodeTypeWaitEvent, hipGraphNodeTypeMemAlloc,
      hipGraphNodeTypeMemFree, hipGraphNodeTypeBatchMemOp,  hipGraphNodeTypeGraph};
  static_assert(std::size(kTypes) == std::variant_size_v<Work>);
  return kTypes[work.index()];
}

const char* node_type_name(hipGraphNodeType type) {
  constexpr const char* kNames[] = {"kernel",
                                    "memcpy",
                                    "memset",
                                    "host",
                                    "child graph",
                                    "empty",
                                    "event wait",
                                    "event record",
                                    "semaphore signal",
                                    "semaphore wait",
                                    "allocation",
                                    "free",
                                    "memcpy from symbol",
                                    "memcpy to symbol",
                                    "memory operation"};
  return static_cast<u32>(type) < std::size(kNames) ? kNames[type] : "unknown";
}

}  // namespace monojit::emulator

using monojit::emulator::ChildWork;
using monojit::emulator::lock_graphs;
using monojit::emulator::refuse_value;
using monojit::emulator::registry;
using monojit::emulator::Work;

ihipGraph::ihipGraph() {
  const auto lock = lock_graphs();
  registry().graphs.insert(this);
}

ihipGraph::~ihipGraph() {
  const auto lock = lock_graphs();
  registry().graphs.erase(this);
}

hipGraphNode* ihipGraph::add(Work work, std::vector<hipGraphNode*> dependencies) {
  const auto lock = lock_graphs();
  for (std::size_t i = 0; i < dependencies.size(); ++i) {
    if (!holds(dependencies[i])) refuse_value(fmt::format("graph: dependency {} is no node of this graph", i));
    if (std::ranges::count(dependencies, dependencies[i]) > 1)
      refuse_value(fmt::format("graph: dependency {} is given twice", i));
  }
  nodes.push_back(std::make_unique<hipGraphNode>(hipGraphNode{.work = std::move(work),
                                                              .dependencies = std::move(dependencies),
                                                              .graph = this,
                                                              .number = registry().next_number++}));
  return nodes.back().get();
}

bool ihipGraph::holds(const hipGraphNode* node) const {
  return std::ranges::any_of(nodes, [&](const auto& own) { return own.get() == node; });
}

std::shared_ptr<ihipGraph> ihipGraph::clone() const {
  auto copy = std::make_shared<ihipGraph>();
  std::map<const hipGraphNode*, hipGraphNode*> made;
  for (const auto& node : nodes) {
    hipGraphNode* const twin = copy->add(node->work, {});
    twin->original = node->number;
    if (auto* const child = std::get_if<ChildWork>(&twin->work)) child->graph = child->graph->clone();
    made[node.get()] = twin;
  }
  for (const auto& node : nodes) {
    for (const hipGraphNode* before : node->dependencies) made[node.get()]->dependencies.push_back(made.at(before));
  }
  return copy;
}

std::vector<const hipGraphNode*> ihipGraph::ordered() const {
  std::vector<const hipGraphNode*> order;
  std::map<const hipGraphNode*, std::size_t> missing;
  std::map<const hipGraphNode*, std::vector<const hipGraphNode*>> followers;
  for (const auto& node : nodes) {
    missing[node.get()] = node->dependencies.size();
    for (const hipGraphNode* before : node->dependencies) followers[before].push_back(node.get());
    if (node->dependencies.empty()) order.push_back(node.get());
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const hipGraphNode* next : followers[order[i]]) {
      if (--missing[next] == 0) order.push_back(next);
    }
  }
  if (order.size() != nodes.size()) refuse_value("graph: its dependencies form a cycle");
  return order;
}
