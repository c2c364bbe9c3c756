// VGPR indexing mode: s_set_gpr_idx_*, and the execution of a vector instruction under it.
#include "runtime/emulator/execute/vgpr_index.h"

#include "runtime/emulator/execute/control.h"

namespace monojit::emulator {
namespace {

constexpr u32 kIndexBits = 0xff;  // of M0
constexpr u32 kEnableShift = 12;  // M0 bits 15:12
constexpr u32 kEnableBits = 0xf;
constexpr u32 kModeIndexing = 1u << 27;

void leave(Wave&, const MicroOp*) {}

/// The micro-op behind `op`, with its rows moved. Its copy is followed by one that returns, where a handler goes on.
[[gnu::noinline]] void execute_moved(Wave& wave, const MicroOp* op) {
  MicroOp moved[2] = {op[1], {.run = leave}};
  const u32 m0 = wave.word(scalar_offset(kM0Word));
  const u32 enabled = (wave.mode & kModeIndexing) != 0 ? m0 >> kEnableShift & kEnableBits : 0;
  u32* const fields[] = {&moved->a, &moved->b, &moved->c, &moved->dst};
  bool written = true;
  for (u32 i = 0; i < std::size(fields); ++i) {
    const u32 rows = op->aux >> (kIndexedRowsBits * i) & ((1u << kIndexedRowsBits) - 1);
    if (rows == 0 || (enabled >> i & 1) == 0) continue;
    *fields[i] += (m0 & kIndexBits) * kRowBytes;
    if (*fields[i] + rows * kRowBytes <= row_offset(op->imm)) continue;
    *fields[i] = row_offset(0);
    if (i == kIndexedDestination) written = false;
  }
  if (written) moved->run(wave, moved);
}

}  // namespace

void vgpr_index_on(Wave& wave, const MicroOp* op) {
  u32& m0 = wave.word(scalar_offset(kM0Word));
  m0 = (m0 & ~(kIndexBits | kEnableBits << kEnableShift)) | (wave.word(op->a) & kIndexBits) | op->imm << kEnableShift;
  wave.mode |= kModeIndexing;
  MONOJIT_EMULATOR_NEXT(wave, op);
}

void vgpr_index_off(Wave& wave, const MicroOp* op) {
  wave.mode &= ~kModeIndexing;
  MONOJIT_EMULATOR_NEXT(wave, op);
}

void vgpr_index_enables(Wave& wave, const MicroOp* op) {
  u32& m0 = wave.word(scalar_offset(kM0Word));
  m0 = (m0 & ~(kEnableBits << kEnableShift)) | op->imm << kEnableShift;
  MONOJIT_EMULATOR_NEXT(wave, op);
}

void vgpr_index_value(Wave& wave, const MicroOp* op) {
  u32& m0 = wave.word(scalar_offset(kM0Word));
  m0 = (m0 & ~kIndexBits) | (wave.word(op->a) & kIndexBits);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

void run_indexed(Wave& wave, const MicroOp* op) {
  execute_moved(wave, op);
  [[gnu::musttail]] return op[2].run(wave, op + 2);
}

}  // namespace monojit::emulator
