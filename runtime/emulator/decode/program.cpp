#include "runtime/emulator/decode/program.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/emulator/code/debug_lines.h"
#include "runtime/emulator/execute/register_file.h"

namespace monojit::emulator {

u32 Program::constants_offset() const { return row_offset(rows + kTemporaryRows); }

u32 Program::register_bytes() const {
  const u32 bytes = constants_offset() + static_cast<u32>(constants.size()) * 4;
  return (bytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
}

const InstructionRecord& Program::instruction_of(const MicroOp* op) const {
  const u32 index = static_cast<u32>(op - ops.data());
  const auto after = std::ranges::upper_bound(instructions, index, {}, &InstructionRecord::first_op);
  return after == instructions.begin() ? *after : *std::prev(after);
}

std::string Program::describe(u32 number) const {
  const InstructionRecord& instruction = instructions[number];
  const std::string line = source_line(file, instruction.address);
  return fmt::format("{:#x}: {}{}", instruction.address, instruction.text,
                     line.empty() ? "" : fmt::format("  [{}]", line));
}

const MicroOp* Program::at_address(u64 address) const {
  const auto found = std::ranges::lower_bound(instructions, address, {}, &InstructionRecord::address);
  return found == instructions.end() || found->address != address ? nullptr : &ops[found->first_op];
}

}  // namespace monojit::emulator
