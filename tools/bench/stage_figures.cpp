#include "tools/bench/stage_figures.h"

#include <algorithm>
#include <deque>
#include <numeric>

namespace monojit::tools {
namespace {

constexpr std::size_t kUnknown = ~std::size_t{0};
constexpr std::string_view kProgram = "program";  // the file with a kernel's main function, which calls the stages

/// Which stage each line of a kernel belongs to.
class StageOfLines {
 public:
  StageOfLines(std::span<const CodeLine> code, std::span<const std::string_view> stages)
      : code_(code), own_(code.size(), kUnknown), stage_(code.size(), kUnknown) {
    for (std::size_t i = 0; i < code.size(); ++i) {
      const auto found = std::ranges::find(stages, code[i].source);
      if (found != stages.end()) own_[i] = static_cast<std::size_t>(found - stages.begin());
    }
    follow_all();
    prefer_what_comes_next();
    follow_all();
    for (std::size_t& stage : stage_) stage = stage == kUnknown ? stages.size() : stage;
  }

  std::size_t at(std::size_t line) const { return stage_[line]; }

 private:
  void follow_all() {
    std::ranges::fill(stage_, kUnknown);
    for (std::size_t i = 0; i < code_.size(); ++i) {
      if (own_[i] != kUnknown) follow(i, own_[i]);
    }
  }

  /// Gives `line` and what it leads to, as far as that is nobody's, to a stage.
  void follow(std::size_t line, std::size_t stage) {
    stage_[line] = stage;
    std::deque<std::size_t> open = {line};
    while (!open.empty()) {
      const std::size_t from = open.front();
      open.pop_front();
      const auto reach = [&](std::size_t to) {
        if (to >= code_.size() || own_[to] != kUnknown || stage_[to] != kUnknown) return;
        stage_[to] = stage;
        open.push_back(to);
      };
      if (falls_through(code_[from])) reach(from + 1);
      if (code_[from].target) reach(*code_[from].target);
    }
  }

  bool ends_stage(std::size_t line) const {
    return code_[line].mnemonic == "s_barrier" || code_[line].source == kProgram;
  }

  /// Whether what `line` leads to next lies behind it and not behind `last`.
  bool stays_in(std::size_t line, std::size_t last) const {
    return falls_through(code_[line]) ||
           (code_[line].target && *code_[line].target > line && *code_[line].target <= last);
  }

  /// Lines where a stage may begin: behind the end of another, or where several lead to.
  std::vector<bool> beginnings() const {
    std::vector<std::size_t> from(code_.size(), kUnknown);
    std::vector<bool> begins(code_.size());
    const auto lead = [&](std::size_t line, std::size_t to) {
      if (to >= code_.size()) return;
      const std::size_t stage = stage_[line];
      if (ends_stage(line) || (from[to] != kUnknown && from[to] != stage)) begins[to] = true;
      from[to] = stage;
    };
    for (std::size_t i = 0; i < code_.size(); ++i) {
      if (falls_through(code_[i])) lead(i, i + 1);
      if (code_[i].target) lead(i, *code_[i].target);
    }
    return begins;
  }

  /// Nobody's lines in front of a stage's line, as far back as to where the stage before may have ended.
  void prefer_what_comes_next() {
    const std::vector<bool> begins = beginnings();
    for (std::size_t i = code_.size(); i-- > 1;) {
      if (own_[i] == kUnknown || own_[i - 1] != kUnknown) continue;
      std::size_t first = i;
      while (first > 0 && own_[first - 1] == kUnknown && !begins[first] && stays_in(first - 1, i)) --first;
      if (!begins[first]) continue;
      for (std::size_t line = first; line < i; ++line) own_[line] = own_[i];
    }
  }

  std::span<const CodeLine> code_;
  std::vector<std::size_t> own_;    ///< by the line's own file
  std::vector<std::size_t> stage_;  ///< for all
};

void count(const CodeLine& line, StageFigures& figures) {
  ++figures.instructions;
  if (line.retry) {
    figures.retries += line.executions;
    return;
  }
  figures.executed += line.executions;
  if (line.source_class == "vector") figures.vector += line.executions;
  if (line.source_class.starts_with("scalar")) figures.scalar += line.executions;
  if (line.source_class == "lds") figures.lds += line.executions;
  if (line.source_class == "mfma") figures.mfma += line.executions;
  const bool loads = line.traffic >= Traffic::kStreamed && line.traffic <= Traffic::kSystem;
  if (line.source_class == "vector_memory" && loads) figures.memory_loads += line.executions;
  figures.bytes[static_cast<std::size_t>(line.traffic)] +=
      (line.executions - line.out_of_range) * static_cast<std::uint64_t>(line.bytes);
}

/// Walks the code in the order of addresses: waits count operations in the order of issue.
void add_bytes_in_flight(std::span<const CodeLine> code, const StageOfLines& stage_of,
                         std::vector<StageFigures>& stages) {
  std::deque<std::uint64_t> in_flight;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const CodeLine& line = code[i];
    if (line.source_class == "vector_memory" && line.traffic != Traffic::kNone) {
      const bool loads = line.traffic <= Traffic::kSystem;
      in_flight.push_back(loads ? static_cast<std::uint64_t>(line.bytes) : 0);
    }
    if (!line.vmcnt || in_flight.size() <= static_cast<std::size_t>(*line.vmcnt)) continue;
    std::uint64_t& most = stages[stage_of.at(i)].in_flight;
    most = std::max(most, std::accumulate(in_flight.begin(), in_flight.end(), std::uint64_t{0}));
    while (in_flight.size() > static_cast<std::size_t>(*line.vmcnt)) in_flight.pop_front();
  }
}

}  // namespace

std::vector<StageFigures> stage_figures(std::span<const CodeLine> code, std::span<const std::string_view> stages) {
  std::vector<StageFigures> figures(stages.size() + 1);
  for (std::size_t i = 0; i < stages.size(); ++i) figures[i].name = stages[i];
  figures.back().name = "entry";
  const StageOfLines stage_of(code, stages);
  for (std::size_t i = 0; i < code.size(); ++i) count(code[i], figures[stage_of.at(i)]);
  add_bytes_in_flight(code, stage_of, figures);
  return figures;
}

StageFigures sum_of(std::span<const StageFigures> stages) {
  StageFigures sum{.name = "all"};
  for (const StageFigures& stage : stages) {
    sum.instructions += stage.instructions;
    for (const auto value :
         {&StageFigures::executed, &StageFigures::retries, &StageFigures::vector, &StageFigures::scalar,
          &StageFigures::lds, &StageFigures::memory_loads, &StageFigures::mfma}) {
      sum.*value += stage.*value;
    }
    for (std::size_t kind = 0; kind < kTrafficKinds; ++kind) sum.bytes[kind] += stage.bytes[kind];
    sum.in_flight = std::max(sum.in_flight, stage.in_flight);
  }
  return sum;
}

}  // namespace monojit::tools
