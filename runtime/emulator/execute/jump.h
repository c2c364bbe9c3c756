// Host addresses of instructions, and back.
#pragma once

#include <fmt/format.h>

#include "runtime/emulator/decode/program.h"
#include "runtime/emulator/execute/fault.h"

namespace monojit::emulator {

/// Host address of the instruction behind `op`.
inline u64 address_after(const Wave& wave, const MicroOp* op) {
  const InstructionRecord& instruction = wave.program->instruction_of(op);
  return instruction.address + instruction.bytes + wave.program->load_bias;
}

/// The micro-op at a host address, or a fault.
inline const MicroOp* jump_target(const Wave& wave, const MicroOp* op, u64 address) {
  const MicroOp* const target = wave.program->at_address(address - wave.program->load_bias);
  if (target == nullptr) {
    wave_fault(FailureKind::kIllegalInstruction, op,
               fmt::format("jump to {:#x}, where no instruction of this kernel begins", address));
  }
  return target;
}

}  // namespace monojit::emulator
