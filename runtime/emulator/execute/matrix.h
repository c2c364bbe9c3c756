// An MFMA of a program.
#pragma once

#include "runtime/emulator/decode/program.h"
#include "runtime/emulator/execute/micro_op.h"

namespace monojit::emulator {

void matrix_handler(Wave& wave, const MicroOp* op);
void sparse_matrix_handler(Wave& wave, const MicroOp* op);

}  // namespace monojit::emulator
