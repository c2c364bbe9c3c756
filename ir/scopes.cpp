#include <fmt/format.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>

#include "ir/builder.h"

namespace monojit::ir {

namespace {
struct Line {
  std::string file = "?";
  unsigned line = 0;
};
Line line_of(const llvm::Instruction& instruction) {
  const llvm::DebugLoc& where = instruction.getDebugLoc();
  return where ? Line{where->getFilename().str(), where.getLine()} : Line{};
}
}  // namespace

void check_scopes(const llvm::Function& function, const Builder& builder) {
  const llvm::DominatorTree dominators(const_cast<llvm::Function&>(function));
  for (const llvm::BasicBlock& block : function) {
    for (const llvm::Instruction& user : block) {
      for (const llvm::Use& use : user.operands()) {
        const auto* value = llvm::dyn_cast<llvm::Instruction>(use.get());
        if (value == nullptr || value->getParent() == &block || dominators.dominates(value, use)) continue;
        const Line made = line_of(*value);
        const Line used = line_of(user);
        throw BuildError(
            "scope", builder.target().arch,
            fmt::format("the value made at {}:{} is used here, outside of the If, For or While in which it was "
                        "made: carry it in a Var",
                        made.file, made.line),
            used.file, used.line);
      }
    }
  }
}

}  // namespace monojit::ir
