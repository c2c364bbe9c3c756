#include "codegen/isa/exec_state.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace monojit::codegen {
namespace {

constexpr int kVcc = 106;         // its encoding among the scalar registers
constexpr int kFirstLane = 1024;  // places in lanes of vector registers come after all scalar registers
constexpr int kLanes = 64;
constexpr int kDeepest = 500;  // far beyond what LLVM nests; keeps a loop that only narrows from counting on

int number_at(std::string_view text, std::size_t at) {
  int value = -1;
  std::from_chars(text.data() + at, text.data() + text.size(), value);
  return value;
}

struct Range {
  int first;
  int last;
};

/// The scalar registers of "s7", "s[4:5]", "vcc", "vcc_lo"; nothing for any other operand.
std::optional<Range> scalar_range(std::string_view operand) {
  if (operand == "vcc") return Range{kVcc, kVcc + 1};
  if (operand == "vcc_lo") return Range{kVcc, kVcc};
  if (operand == "vcc_hi") return Range{kVcc + 1, kVcc + 1};
  if (operand.starts_with("s[")) {
    const std::size_t colon = operand.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    return Range{number_at(operand, 2), number_at(operand, colon + 1)};
  }
  if (operand.size() > 1 && operand[0] == 's' && operand[1] >= '0' && operand[1] <= '9') {
    return Range{number_at(operand, 1), number_at(operand, 1)};
  }
  return std::nullopt;
}

int lane_place(std::string_view vector_register, std::string_view lane) {
  return kFirstLane + number_at(vector_register, 1) * kLanes + number_at(lane, 0);
}

bool is_exec(std::string_view operand) { return operand.starts_with("exec"); }

bool writes_no_scalar(std::string_view mnemonic) {
  return mnemonic.starts_with("s_cmp") || mnemonic.starts_with("s_bitcmp") || mnemonic.starts_with("s_setreg");
}

bool writes_carry(std::string_view mnemonic) {
  return mnemonic.find("_co_") != std::string_view::npos || mnemonic.starts_with("v_div_scale") ||
         mnemonic.starts_with("v_mad_u64") || mnemonic.starts_with("v_mad_i64");
}

}  // namespace

void ExecState::step(const Instruction& instruction) {
  const std::string_view mnemonic = instruction.mnemonic;
  if (mnemonic.find("saveexec") != std::string_view::npos || mnemonic.find("wrexec") != std::string_view::npos) {
    save_exec(instruction);
  } else if (mnemonic.starts_with("v_cmpx")) {
    set_depth(depth_ + 1, instruction);
  } else if (const auto operands = operand_list(instruction); !operands.empty() && is_exec(operands[0])) {
    if (!writes_no_scalar(mnemonic)) write_exec(instruction);
  } else {
    write_scalar(instruction);
  }
}

void ExecState::save_exec(const Instruction& instruction) {
  const std::string_view mnemonic = instruction.mnemonic;
  const auto operands = operand_list(instruction);
  if (operands.size() < 2) return set_depth(kUnknown, instruction);
  const int before = depth_;
  const int source = saved(operands[1]);
  if (mnemonic == "s_or_saveexec_b64") {
    // The start of an else: what was saved before the if is ORed in, the lanes of the then part are kept aside. With
    // -1: all lanes.
    const bool all = operands[1] == "-1";
    set_depth(all ? kFull : source, instruction);
    save(operands[0], all ? before : source);
  } else if (mnemonic.starts_with("s_andn2") || mnemonic.starts_with("s_xor")) {
    set_depth(source + 1, instruction);
    save(operands[0], source);
  } else {
    set_depth(before + 1, instruction);
    save(operands[0], before);
  }
}

void ExecState::write_exec(const Instruction& instruction) {
  const std::string_view mnemonic = instruction.mnemonic;
  const auto operands = operand_list(instruction);
  if (mnemonic == "s_mov_b64" && operands.size() == 2) {
    return set_depth(operands[1] == "-1" ? kFull : saved(operands[1]), instruction);
  }
  if (operands.size() != 3) return set_depth(kUnknown, instruction);
  const std::string_view other = is_exec(operands[1]) ? operands[2] : operands[1];
  if (mnemonic == "s_or_b64") {
    const bool followed = depth_ == kFull || saved(other) < kUnknown;
    return set_depth(followed ? std::min(depth_, saved(other)) : kUnknown, instruction);
  }
  if (mnemonic == "s_xor_b64") return set_depth(saved(other) + 1, instruction);
  // A loop takes out the lanes that have left it; going round again is no deeper.
  if (mnemonic == "s_andn2_b64" && saved(other) < kUnknown)
    return set_depth(std::max(depth_, saved(other) + 1), instruction);
  if (mnemonic == "s_and_b64" || mnemonic == "s_andn2_b64") return set_depth(depth_ + 1, instruction);
  set_depth(kUnknown, instruction);
}

void ExecState::write_scalar(const Instruction& instruction) {
  const std::string_view mnemonic = instruction.mnemonic;
  const auto operands = operand_list(instruction);
  if (operands.empty() || writes_no_scalar(mnemonic)) return;
  if (mnemonic.starts_with("v_writelane") && operands.size() == 3) {
    return save(lane_place(operands[0], operands[2]), saved(operands[1]));
  }
  if (mnemonic.starts_with("v_readlane") && operands.size() == 3 && operands[1].starts_with('v')) {
    const auto found = saved_.find(lane_place(operands[1], operands[2]));
    const int depth = found == saved_.end() ? kUnknown : found->second;
    return save(operands[0], depth);
  }
  if (writes_carry(mnemonic) && operands.size() > 1) save(operands[1], kUnknown);
  int depth = kUnknown;
  if ((mnemonic == "s_mov_b64" || mnemonic == "s_mov_b32") && operands.size() == 2) {
    // Zero starts the set of lanes that leave a loop: with it, EXEC would be what it is.
    depth = operands[1] == "exec" || operands[1] == "0" ? depth_ : saved(operands[1]);
  } else if ((mnemonic == "s_or_b64" || mnemonic == "s_xor_b64") && operands.size() == 3) {
    depth = std::min(saved(operands[1]), saved(operands[2]));
  } else if (mnemonic == "s_andn2_b64" && operands.size() == 3) {
    depth = saved(operands[1]);
  } else if (mnemonic == "s_and_b64" && operands.size() == 3 && (operands[1] == "exec" || operands[2] == "exec")) {
    depth = depth_ + 1;
  }
  save(operands[0], depth);
}

void ExecState::set_depth(int depth, const Instruction& instruction) {
  const int bounded = depth > kDeepest ? kUnknown : depth;
  if (bounded == depth_) return;
  depth_ = bounded;
  changed_at_ = instruction.address;
}

int ExecState::saved(std::string_view operand) const {
  const std::optional<Range> range = scalar_range(operand);
  if (!range) return kUnknown;
  int depth = kFull;
  for (int place = range->first; place <= range->last; ++place) {
    const auto found = saved_.find(place);
    depth = std::max(depth, found == saved_.end() ? kUnknown : found->second);
  }
  return depth;
}

void ExecState::save(std::string_view operand, int depth) {
  const std::optional<Range> range = scalar_range(operand);
  if (!range) return;
  for (int place = range->first; place <= range->last; ++place) save(place, depth);
}

void ExecState::save(int place, int depth) {
  if (depth <= kDeepest) {
    saved_[place] = depth;
  } else {
    saved_.erase(place);
  }
}

bool ExecState::join(const ExecState& other) {
  bool changed = false;
  if (other.depth_ > depth_) {
    depth_ = other.depth_;
    changed_at_ = other.changed_at_;
    changed = true;
  }
  for (auto at = saved_.begin(); at != saved_.end();) {
    const auto theirs = other.saved_.find(at->first);
    if (theirs == other.saved_.end()) {
      at = saved_.erase(at);
      changed = true;
      continue;
    }
    if (theirs->second > at->second) {
      at->second = theirs->second;
      changed = true;
    }
    ++at;
  }
  return changed;
}

}  // namespace monojit::codegen
