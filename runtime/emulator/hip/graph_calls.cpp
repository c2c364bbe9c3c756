// HIP: graphs as a whole, and what is between their nodes.
#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "runtime/emulator/hip/capture.h"
#include "runtime/emulator/hip/graph.h"
#include "runtime/emulator/hip/graph_memory.h"
#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::checked_device;
using monojit::emulator::checked_graph;
using monojit::emulator::checked_node;
using monojit::emulator::drop_graph;
using monojit::emulator::GraphMemory;
using monojit::emulator::guarded;
using monojit::emulator::HipError;
using monojit::emulator::keep_graph;
using monojit::emulator::lock_graphs;
using monojit::emulator::node_type;
using monojit::emulator::node_type_name;
using monojit::emulator::refuse_value;
using monojit::emulator::require;
using monojit::emulator::u64;

namespace {

/// HIP's way of giving a list: with no array the count only; else as many as fit, and null behind them.
void give_list(const std::vector<hipGraphNode_t>& list, hipGraphNode_t* nodes, std::size_t* count) {
  require(count, "count");
  if (nodes == nullptr) {
    *count = list.size();
    return;
  }
  for (std::size_t i = 0; i < *count; ++i) nodes[i] = i < list.size() ? list[i] : nullptr;
  *count = std::min(*count, list.size());
}

template <class Body>
hipError_t with_graph(hipGraph_t graph, Body body) {
  return guarded([&] {
    const auto lock = lock_graphs();
    body(checked_graph(graph));
  });
}

template <class Body>
hipError_t with_node(hipGraphNode_t node, Body body) {
  return guarded([&] {
    const auto lock = lock_graphs();
    body(checked_node(node));
  });
}

template <class Change>
hipError_t change_edges(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to, std::size_t count,
                        Change change) {
  return with_graph(graph, [&](const ihipGraph& target) {
    if (count > 0) require(from, "from"), require(to, "to");
    for (std::size_t i = 0; i < count; ++i) {
      if (!target.holds(from[i]) || !target.holds(to[i]) || from[i] == to[i])
        refuse_value(fmt::format("graph: edge {} does not join two nodes of this graph", i));
    }
    for (std::size_t i = 0; i < count; ++i) change(to[i]->dependencies, from[i]);
  });
}

}  // namespace

extern "C" {

hipError_t hipGraphCreate(hipGraph_t* graph, unsigned int flags) {
  return guarded([&] {
    require(graph, "graph");
    if (flags != 0) refuse_value(fmt::format("graph flags {:#x}", flags));
    *graph = keep_graph(std::make_shared<ihipGraph>());
  });
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  return guarded([&] { drop_graph(graph); });
}

hipError_t hipGraphClone(hipGraph_t* clone, hipGraph_t graph) {
  return with_graph(graph, [&](const ihipGraph& source) {
    require(clone, "clone");
    *clone = keep_graph(source.clone());
  });
}

hipError_t hipGraphNodeFindInClone(hipGraphNode_t* found, hipGraphNode_t original, hipGraph_t clone) {
  return with_graph(clone, [&](const ihipGraph& graph) {
    require(found, "node");
    const u64 number = checked_node(original).number;
    for (const auto& node : graph.nodes) {
      if (node->original == number) {
        *found = node.get();
        return;
      }
    }
    refuse_value("graph: it is no clone with that node");
  });
}

hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                   std::size_t count) {
  return change_edges(graph, from, to, count, [](auto& dependencies, hipGraphNode_t node) {
    if (std::ranges::find(dependencies, node) != dependencies.end()) refuse_value("graph: the edge is there already");
    dependencies.push_back(node);
  });
}

hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                      std::size_t count) {
  return change_edges(graph, from, to, count, [](auto& dependencies, hipGraphNode_t node) {
    if (std::erase(dependencies, node) == 0) refuse_value("graph: there is no such edge");
  });
}

hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes, std::size_t* count) {
  return with_graph(graph, [&](const ihipGraph& source) {
    std::vector<hipGraphNode_t> list;
    for (const auto& node : source.nodes) list.push_back(node.get());
    give_list(list, nodes, count);
  });
}

hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t* nodes, std::size_t* count) {
  return with_graph(graph, [&](const ihipGraph& source) {
    std::vector<hipGraphNode_t> list;
    for (const auto& node : source.nodes) {
      if (node->dependencies.empty()) list.push_back(node.get());
    }
    give_list(list, nodes, count);
  });
}

hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t* from, hipGraphNode_t* to, std::size_t* count) {
  return with_graph(graph, [&](const ihipGraph& source) {
    require(count, "count");
    if ((from == nullptr) != (to == nullptr)) refuse_value("graph: one of the two lists of an edge is missing");
    std::vector<hipGraphNode_t> begins, ends;
    for (const auto& node : source.nodes) {
      for (const hipGraphNode_t before : node->dependencies) begins.push_back(before), ends.push_back(node.get());
    }
    std::size_t same = *count;
    give_list(begins, from, count);
    give_list(ends, to, &same);
  });
}

hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t* nodes, std::size_t* count) {
  return with_node(node, [&](const hipGraphNode& known) { give_list(known.dependencies, nodes, count); });
}

hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t* nodes, std::size_t* count) {
  return with_node(node, [&](const hipGraphNode& known) {
    std::vector<hipGraphNode_t> list;
    for (const auto& other : known.graph->nodes) {
      if (std::ranges::find(other->dependencies, node) != other->dependencies.end()) list.push_back(other.get());
    }
    give_list(list, nodes, count);
  });
}

hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type) {
  return with_node(node, [&](const hipGraphNode& known) { require(type, "type"), *type = node_type(known.work); });
}

hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
  return with_node(node, [&](const hipGraphNode& known) {
    ihipGraph& graph = *known.graph;
    for (const auto& other : graph.nodes) std::erase(other->dependencies, node);
    std::erase_if(graph.nodes, [&](const auto& own) { return own.get() == node; });
  });
}

hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char* path, unsigned int) {
  return with_graph(graph, [&](const ihipGraph& source) {
    require(path, "path");
    std::ofstream file(path);
    file << "digraph graph_0 {\n";
    for (const auto& node : source.nodes) {
      file << fmt::format("  n{} [label=\"{}\"];\n", node->number, node_type_name(node_type(node->work)));
      for (const hipGraphNode* before : node->dependencies)
        file << fmt::format("  n{} -> n{};\n", before->number, node->number);
    }
    file << "}\n";
    file.close();
    if (!file) throw HipError(hipErrorOperatingSystem, fmt::format("can't write the graph to {}", path));
  });
}

hipError_t hipDeviceGetGraphMemAttribute(int device, hipGraphMemAttributeType attribute, void* value) {
  return guarded([&] {
    require(value, "value");
    if (attribute < hipGraphMemAttrUsedMemCurrent || attribute > hipGraphMemAttrReservedMemHigh)
      refuse_value(fmt::format("graph memory attribute {}", static_cast<int>(attribute)));
    *static_cast<u64*>(value) = GraphMemory::total(checked_device(device));
  });
}

hipError_t hipDeviceGraphMemTrim(int device) {
  return guarded([&] { static_cast<void>(checked_device(device)); });
}

}  // extern "C"
