#include "codegen/isa/listing.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "codegen/error.h"
#include "codegen/isa/disassembler.h"

namespace monojit::codegen {

Listing::Listing(const CodeObject& object, std::string_view symbol)
    : symbol_(symbol), arch_(object.arch()), lines_(std::make_shared<DebugLines>(object)) {
  const std::vector<CodeRange> functions = object.functions();
  const auto found = std::ranges::find(functions, symbol, &CodeRange::symbol);
  if (found == functions.end()) throw CodegenError(fmt::format("the code object has no function {}", symbol));
  instructions_ = disassemble(*found, arch_);
  for (Instruction& instruction : instructions_) instruction.line = lines_->at(instruction.address);
}

InstructionCounts Listing::counts() const {
  InstructionCounts counts{};
  for (const Instruction& instruction : instructions_)
    ++counts[static_cast<std::size_t>(classify(instruction.mnemonic))];
  return counts;
}

std::string Listing::text() const {
  std::set<std::uint64_t> labels;
  for (const Instruction& instruction : instructions_) {
    if (instruction.target) labels.insert(*instruction.target);
  }
  std::string text = fmt::format("; {} for {}, {} instructions\n{}:\n", symbol_, arch_, instructions_.size(), symbol_);
  const auto out = std::back_inserter(text);
  SourceLine line;
  for (const Instruction& instruction : instructions_) {
    if (labels.contains(instruction.address)) fmt::format_to(out, "L{:x}:\n", instruction.address);
    if (instruction.line && instruction.line != line) {
      line = instruction.line;
      fmt::format_to(out, "  ; {}\n", to_text(line));
    }
    const std::string operands = instruction.target ? fmt::format("L{:x}", *instruction.target) : instruction.operands;
    fmt::format_to(out, "  {:6x}  {}{}{}\n", instruction.address, instruction.mnemonic, operands.empty() ? "" : " ",
                   operands);
  }
  return text;
}

}  // namespace monojit::codegen
