#include "runtime/emulator/hip/graph_exec.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "runtime/emulator/hip/event.h"
#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::ChildWork;
using monojit::emulator::EmptyWork;
using monojit::emulator::HipError;
using monojit::emulator::KernelWork;
using monojit::emulator::Operation;
using monojit::emulator::operation_of;
using monojit::emulator::RecordWork;
using monojit::emulator::refuse_value;
using monojit::emulator::Runtime;
using monojit::emulator::TicketPtr;
using monojit::emulator::u32;

namespace {

using Step = hipGraphExec::Step;

/// Appends the graph's nodes; a node without dependencies waits for `before`. Returns the steps that nothing follows.
std::vector<u32> flatten(const ihipGraph& graph, const std::vector<u32>& before, std::vector<Step>& steps) {
  std::map<const hipGraphNode*, std::vector<u32>> ends;
  std::map<const hipGraphNode*, bool> followed;
  const std::vector<const hipGraphNode*> order = graph.ordered();
  for (const hipGraphNode* node : order) {
    std::vector<u32> after;
    for (const hipGraphNode* dependency : node->dependencies) {
      after.insert(after.end(), ends[dependency].begin(), ends[dependency].end());
      followed[dependency] = true;
    }
    if (node->dependencies.empty()) after = before;
    const auto* const child = std::get_if<ChildWork>(&node->work);
    if (child != nullptr && !child->graph->nodes.empty()) {
      ends[node] = flatten(*child->graph, after, steps);
      continue;
    }
    steps.push_back({.work = node->work, .after = std::move(after), .node = node->number});
    ends[node] = {static_cast<u32>(steps.size() - 1)};
  }
  std::vector<u32> last;
  for (const hipGraphNode* node : order) {
    if (!followed[node]) last.insert(last.end(), ends[node].begin(), ends[node].end());
  }
  return last;
}

std::vector<Step> steps_of(const ihipGraph& graph) {
  std::vector<Step> steps;
  static_cast<void>(flatten(graph, {}, steps));
  for (const Step& step : steps) {
    for (const u32 before : step.after) steps[before].last = false;
  }
  return steps;
}

const hipGraphNode* node_numbered(const ihipGraph& graph, monojit::emulator::u64 number) {
  for (const auto& node : graph.nodes) {
    if (node->number == number) return node.get();
    if (const auto* const child = std::get_if<ChildWork>(&node->work)) {
      if (const hipGraphNode* const inner = node_numbered(*child->graph, number)) return inner;
    }
  }
  return nullptr;
}

void check_kernels(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    if (const auto* const kernel = std::get_if<KernelWork>(&step.work))
      static_cast<void>(Runtime::get().kernel_of(kernel->function));
  }
}

}  // namespace

hipGraphExec::hipGraphExec(const ihipGraph& graph, unsigned long long flags) : steps_(steps_of(graph)), flags_(flags) {
  check_kernels(steps_);
}

void hipGraphExec::launch(ihipStream_t& stream) {
  Runtime& runtime = Runtime::get();
  check_kernels(steps_);
  const TicketPtr begin = runtime.streams().enqueue(stream, {.after = {last_}});
  std::vector<TicketPtr> ends(steps_.size());
  Operation join;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    Operation operation = operation_of(step.enabled ? step.work : EmptyWork{}, stream.device, stream.priority);
    if (step.after.empty()) operation.after.push_back(begin);
    for (const u32 before : step.after) operation.after.push_back(ends[before]);
    ends[i] = runtime.engine().submit(std::move(operation));
    if (const auto* const record = std::get_if<RecordWork>(&step.work); record != nullptr && step.enabled)
      record->event->record(stream.device, ends[i]);
    if (step.last) join.after.push_back(ends[i]);
  }
  last_ = runtime.streams().enqueue(stream, std::move(join));
}

std::shared_ptr<ihipGraph> hipGraphExec::as_graph() const {
  auto graph = std::make_shared<ihipGraph>();
  std::vector<hipGraphNode*> made;
  for (const Step& step : steps_) {
    std::vector<hipGraphNode*> after;
    for (const u32 before : step.after) after.push_back(made[before]);
    made.push_back(graph->add(step.enabled ? step.work : EmptyWork{}, std::move(after)));
  }
  return graph;
}

hipGraphExec::Step& hipGraphExec::step_of(const hipGraphNode& node) {
  const auto found = std::ranges::find(steps_, node.number, &Step::node);
  if (found == steps_.end()) refuse_value("graph: the node is not one that the executable graph was made from");
  return *found;
}

const hipGraphNode* hipGraphExec::update(const ihipGraph& graph, hipGraphExecUpdateResult& result) {
  std::vector<Step> next = steps_of(graph);
  const auto differs = [&](std::size_t i, hipGraphExecUpdateResult how) {
    result = how;
    return node_numbered(graph, next[i].node);
  };
  for (std::size_t i = 0; i < std::min(next.size(), steps_.size()); ++i) {
    if (next[i].work.index() != steps_[i].work.index()) return differs(i, hipGraphExecUpdateErrorNodeTypeChanged);
    if (next[i].after != steps_[i].after) return differs(i, hipGraphExecUpdateErrorTopologyChanged);
  }
  if (next.size() != steps_.size()) {
    result = hipGraphExecUpdateErrorTopologyChanged;
    return next.size() > steps_.size() ? differs(steps_.size(), result) : nullptr;
  }
  check_kernels(next);
  for (std::size_t i = 0; i < next.size(); ++i) steps_[i].work = std::move(next[i].work);
  result = hipGraphExecUpdateSuccess;
  return nullptr;
}

namespace monojit::emulator {
namespace {

std::map<hipGraphExec_t, std::unique_ptr<hipGraphExec>>& execs() {
  static auto* const all = new std::map<hipGraphExec_t, std::unique_ptr<hipGraphExec>>;
  return *all;
}

}  // namespace

hipGraphExec_t keep_exec(std::unique_ptr<hipGraphExec> exec) {
  const hipGraphExec_t handle = exec.get();
  execs()[handle] = std::move(exec);
  return handle;
}

hipGraphExec& checked_exec(hipGraphExec_t exec) {
  if (!execs().contains(exec)) refuse_value(fmt::format("{} is not an executable graph", static_cast<void*>(exec)));
  return *exec;
}

void drop_exec(hipGraphExec_t exec) {
  static_cast<void>(checked_exec(exec));
  execs().erase(exec);
}

}  // namespace monojit::emulator
