#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/isa/instruction.h"
#include "codegen/object/code_object.h"
#include "codegen/object/debug_lines.h"

namespace monojit::codegen {

/// How many instructions of each class, indexed by InstructionClass.
using InstructionCounts = std::array<std::uint32_t, kInstructionClasses>;

/// One function of a code object, disassembled.
class Listing {
 public:
  /// Throws CodegenError when the code object has no function `symbol` or holds an instruction that LLVM does not know.
  Listing(const CodeObject& object, std::string_view symbol);

  std::span<const Instruction> instructions() const { return instructions_; }
  InstructionCounts counts() const;
  /// Assembly, a line an instruction with its address, preceded by a comment wherever the DSL line changes.
  std::string text() const;

 private:
  std::string symbol_;
  std::string arch_;
  std::shared_ptr<const DebugLines> lines_;
  std::vector<Instruction> instructions_;
};

}  // namespace monojit::codegen
