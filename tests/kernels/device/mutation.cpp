#include "tests/kernels/device/mutation.h"

#include <iterator>
#include <set>
#include <string>

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

namespace monojit::tests {

namespace {

using Instructions = std::vector<llvm::Instruction*>;

unsigned line_of(const llvm::Instruction& instruction) { return instruction.getDebugLoc().getLine(); }

bool of_file(const llvm::Instruction& instruction, const std::string& file) {
  const llvm::DILocation* location = instruction.getDebugLoc().get();
  return location != nullptr && location->getFilename().ends_with("/" + file);
}

Instructions candidates(llvm::Module& module, const Mutation& mutation) {
  Instructions found;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (mutation.damage.concerns(instruction) && of_file(instruction, mutation.file)) found.push_back(&instruction);
    }
  }
  return found;
}

void keep_line(Instructions& instructions, int index) {
  std::set<unsigned> lines;
  for (const llvm::Instruction* instruction : instructions) lines.insert(line_of(*instruction));
  if (static_cast<std::size_t>(index) >= lines.size()) return instructions.clear();
  const unsigned line = *std::next(lines.begin(), index);
  std::erase_if(instructions, [&](const llvm::Instruction* instruction) { return line_of(*instruction) != line; });
}

void keep_range(Instructions& instructions, int first, int count) {
  if (static_cast<std::size_t>(first + count) > instructions.size()) return instructions.clear();
  instructions = {instructions.begin() + first, instructions.begin() + first + count};
}

}  // namespace

std::size_t mutate(llvm::Module& module, const Mutation& mutation) {
  Instructions chosen = candidates(module, mutation);
  if (mutation.line != kEvery) keep_line(chosen, mutation.line);
  if (mutation.first != kEvery) keep_range(chosen, mutation.first, mutation.count);
  return chosen.empty() ? 0 : mutation.damage.apply(chosen);
}

}  // namespace monojit::tests
