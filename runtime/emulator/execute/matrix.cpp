// MFMA and SMFMAC: the micro-op hands register rows to the matrix core's models (numerics/matrix.h).
#include "runtime/emulator/execute/matrix.h"

#include <immintrin.h>

#include "runtime/emulator/execute/mode.h"
#include "runtime/emulator/execute/wave.h"

namespace monojit::emulator {

namespace {

/// The matrix core rounds to nearest and keeps denormals whatever MODE says.
template <class Body>
void in_default_mode(const Wave& wave, Body body) {
  const bool changed = wave.host_mode32 != kHostModeDefault;
  if (changed) _mm_setcsr(kHostModeDefault);
  body();
  if (changed) _mm_setcsr(wave.host_mode32);
}

/// The chip reads all lanes whatever EXEC says; a kernel that gets here with some off was most likely miscompiled.
void count_stray(Wave& wave) {
  if (wave.exec() != ~u64{0}) ++wave.worker->stray_matrix_ops;
}

[[gnu::noinline]] void run_sparse_tile(Wave& wave, const MicroOp* op) {
  const MatrixOperation& operation = wave.program->matrix_operations[op->imm];
  const SparseTileArguments tile{.a = wave.row(op->a),
                                 .b = wave.row(op->b),
                                 .index = wave.row(op->c),
                                 .d = wave.row(op->dst),
                                 .cbsz = operation.arguments.cbsz,
                                 .abid = operation.arguments.abid,
                                 .fp16_ovfl = (wave.mode & kModeFp16OverflowBit) != 0};
  count_stray(wave);
  in_default_mode(wave, [&] { operation.sparse(tile); });
}

[[gnu::noinline]] void run_tile(Wave& wave, const MicroOp* op) {
  const MatrixOperation& operation = wave.program->matrix_operations[op->imm];
  TileArguments tile = operation.arguments;
  tile.a = wave.row(op->a);
  tile.b = wave.row(op->b);
  tile.c = op->c == kNoOperand ? nullptr : wave.row(op->c);
  tile.d = wave.row(op->dst);
  if (operation.scale_a != kNoOperand) tile.scale_a = wave.row(operation.scale_a);
  if (operation.scale_b != kNoOperand) tile.scale_b = wave.row(operation.scale_b);
  tile.fp16_ovfl = (wave.mode & kModeFp16OverflowBit) != 0;
  tile.flush_f32_inputs = (wave.mode >> kModeDenormal32Shift & 1) == 0;
  count_stray(wave);
  in_default_mode(wave, [&] { operation.function(tile); });
}

}  // namespace

/// dst, a, b, c rows; imm: index of the operation in its program. c is kNoOperand for a constant.
void matrix_handler(Wave& wave, const MicroOp* op) {
  run_tile(wave, op);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// dst is D and C, a and b rows, c the index row; imm: index of the operation in its program.
void sparse_matrix_handler(Wave& wave, const MicroOp* op) {
  run_sparse_tile(wave, op);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

}  // namespace monojit::emulator
