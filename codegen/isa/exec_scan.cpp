#include "codegen/isa/exec_scan.h"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/isa/exec_state.h"

namespace monojit::codegen {
namespace {

class Scan {
 public:
  explicit Scan(std::span<const Instruction> instructions) : instructions_(instructions) {
    leaders_.insert(0);
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      if (!instructions[i].target) continue;
      if (const std::size_t at = index_of(*instructions[i].target); at < instructions.size()) leaders_.insert(at);
      if (i + 1 < instructions.size()) leaders_.insert(i + 1);
    }
  }

  /// Spreads what is known along all ways until nothing changes: depths only grow and facts only vanish, so that ends.
  void solve() {
    std::set<std::size_t> todo = {0};
    entries_.emplace(0, ExecState());
    while (!todo.empty()) {
      const std::size_t block = *todo.begin();
      todo.erase(todo.begin());
      ExecState state = entries_.at(block);
      const std::size_t last = end_of(block) - 1;
      for (std::size_t i = block; i <= last; ++i) state.step(instructions_[i]);
      for (const std::size_t next : successors(last)) {
        const auto [found, added] = entries_.try_emplace(next, state);
        if (added || found->second.join(state)) todo.insert(next);
      }
    }
  }

  std::vector<MaskedMfma> findings() const {
    std::vector<MaskedMfma> found;
    for (const auto& [block, entry] : entries_) {
      ExecState state = entry;
      for (std::size_t i = block; i < end_of(block); ++i) {
        const Instruction& instruction = instructions_[i];
        if (state.depth() != ExecState::kFull && classify(instruction.mnemonic) == InstructionClass::kMfma) {
          const std::size_t cause = index_of(state.changed_at());
          found.push_back({instruction, instructions_[cause].line, state.depth() != ExecState::kUnknown});
        }
        state.step(instruction);
      }
    }
    return found;
  }

 private:
  std::size_t index_of(std::uint64_t address) const {
    const auto found = std::ranges::lower_bound(instructions_, address, {}, &Instruction::address);
    return static_cast<std::size_t>(found - instructions_.begin());
  }

  std::size_t end_of(std::size_t block) const {
    const auto next = leaders_.upper_bound(block);
    return next == leaders_.end() ? instructions_.size() : *next;
  }

  std::vector<std::size_t> successors(std::size_t last) const {
    const Instruction& instruction = instructions_[last];
    std::vector<std::size_t> next;
    if (instruction.target) next.push_back(index_of(*instruction.target));
    const bool goes_on = instruction.mnemonic != "s_branch" && instruction.mnemonic != "s_endpgm" &&
                         !instruction.mnemonic.starts_with("s_setpc");
    if (goes_on) next.push_back(last + 1);
    std::erase_if(next, [&](std::size_t at) { return at >= instructions_.size(); });
    return next;
  }

  std::span<const Instruction> instructions_;
  std::set<std::size_t> leaders_;             ///< first instructions of the basic blocks
  std::map<std::size_t, ExecState> entries_;  ///< by leader; blocks that nothing reaches have none
};

}  // namespace

bool is_scaled_mfma(const Instruction& instruction) {
  return instruction.mnemonic.starts_with("v_mfma") && instruction.mnemonic.find("f8f6f4") != std::string::npos;
}

std::vector<MaskedMfma> find_masked_mfmas(std::span<const Instruction> instructions) {
  if (instructions.empty()) return {};
  Scan scan(instructions);
  scan.solve();
  return scan.findings();
}

}  // namespace monojit::codegen
