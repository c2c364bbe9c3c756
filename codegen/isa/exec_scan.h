#pragma once

#include <span>
#include <vector>

#include "codegen/isa/instruction.h"

namespace monojit::codegen {

/// A matrix instruction that may run while some lanes are switched off. It reads all lanes whatever EXEC says, but what
/// computed its operands may have written the active ones alone: LLVM 22.1.8 moves scaled MFMAs into divergent regions
/// so.
struct MaskedMfma {
  Instruction instruction;
  SourceLine narrowed_at;  ///< where lanes were switched off
  bool certain = false;    ///< false: the scan lost track of EXEC, and every lane may be active after all
};

/// Whether an instruction is a matrix instruction of the scaled (f8f6f4) kind, with or without its scales.
bool is_scaled_mfma(const Instruction& instruction);

/// Follows EXEC over the control flow of one function that starts with every lane active, and returns the matrix
/// instructions that it is (or may be) partial at, in program order. Scalar branches alone don't switch off lanes.
std::vector<MaskedMfma> find_masked_mfmas(std::span<const Instruction> instructions);

}  // namespace monojit::codegen
