// A graph made ready to be launched many times.
#pragma once

#include "runtime/emulator/hip/graph.h"

/// The executable form of a graph: its nodes in an order that can be submitted, children flattened into it.
struct hipGraphExec {
 public:
  hipGraphExec(const ihipGraph& graph, unsigned long long flags);

  struct Step {
    monojit::emulator::Work work;
    std::vector<monojit::emulator::u32> after{};  ///< earlier steps
    monojit::emulator::u64 node = 0;              ///< number of the node that it was made from
    bool enabled = true;
    bool last = true;  ///< nothing comes after it
  };

  /// Submits all steps behind the stream's work. Throws what check_launch does, and for a kernel whose module is gone.
  void launch(ihipStream_t& stream);
  /// The same work as a new graph, for a capture of the launch.
  [[nodiscard]] std::shared_ptr<ihipGraph> as_graph() const;
  /// The step of a node of the graph that this was made from. Throws HipError (hipErrorInvalidValue).
  [[nodiscard]] Step& step_of(const hipGraphNode& node);
  /// Takes the parameters of `graph`, which must have the same shape. Returns the first node that differs in kind or
  /// place, or null; then nothing was changed.
  [[nodiscard]] const hipGraphNode* update(const ihipGraph& graph, hipGraphExecUpdateResult& result);

  [[nodiscard]] unsigned long long flags() const { return flags_; }

 private:
  std::vector<Step> steps_;
  unsigned long long flags_;
  monojit::emulator::TicketPtr last_;  ///< the end of the latest launch: launches of one graph do not overlap
};

namespace monojit::emulator {

/// Handles of executable graphs. Call with the lock of graphs.
hipGraphExec_t keep_exec(std::unique_ptr<hipGraphExec> exec);
/// Throws HipError (hipErrorInvalidValue).
hipGraphExec& checked_exec(hipGraphExec_t exec);
void drop_exec(hipGraphExec_t exec);

}  // namespace monojit::emulator
