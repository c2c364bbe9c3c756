// What a kernel is decoded into: an array of micro-ops, each of which tail-calls the next.
#pragma once

#include "runtime/emulator/types.h"

namespace monojit::emulator {

struct Wave;
struct MicroOp;

/// Executes `op` for the wave and goes on with the next micro-op; returns only when the wave yields.
using Handler = void (*)(Wave& wave, const MicroOp* op);

/// Operands are byte offsets into the wave's register file (register_file.h): the first word of a scalar, or the first
/// row of a VGPR tuple. What `imm` and `aux` mean is the handler's business.
struct MicroOp {
  Handler run = nullptr;
  u32 dst = 0;
  u32 a = 0;
  u32 b = 0;
  u32 c = 0;
  u32 imm = 0;
  u32 aux = 0;
};
static_assert(sizeof(MicroOp) == 32);

// The next micro-op is a tail call: there is no dispatch loop and no return address to predict.
#define MONOJIT_EMULATOR_NEXT(wave, op) [[gnu::musttail]] return (op)[1].run((wave), (op) + 1)

inline constexpr u32 kNoOperand = ~u32{0};

}  // namespace monojit::emulator
