// Where scalar memory instructions point.
#pragma once

#include "runtime/emulator/execute/fault.h"
#include "runtime/emulator/execute/wave.h"

namespace monojit::emulator {

/// a: base pair, b: offset register or kNoOperand (in units of kUnit bytes), imm: immediate offset. The two low address
/// bits are ignored.
template <u32 kUnit = 1>
MONOJIT_EMULATOR_INLINE u64 scalar_address(Wave& wave, const MicroOp* op) {
  const u64 offset = op->b == kNoOperand ? 0 : u64{wave.word(op->b)} * kUnit;
  const u64 immediate = static_cast<u64>(i64{static_cast<i32>(op->imm)});
  return (wave.pair(op->a) + offset + immediate) & ~u64{3};
}

/// A descriptor as scalar memory reads it: no swizzle, and the stride only says how many bytes there are.
struct ScalarBuffer {
  u64 base;
  u64 bytes;
  u64 offset;  ///< the instruction's, its two low bits dropped
};

/// a: the first of four descriptor words.
MONOJIT_EMULATOR_INLINE ScalarBuffer scalar_buffer(Wave& wave, const MicroOp* op) {
  const u64 low = wave.pair(op->a);
  const u64 stride = low >> 48 & 0x3fff;
  const u64 records = wave.word(op->a + 8);
  const u64 offset = op->b == kNoOperand ? 0 : wave.word(op->b);
  return {.base = low & 0xfffffffffffc,
          .bytes = stride == 0 ? records : records * stride,
          .offset = (offset + op->imm) & ~u64{3}};
}

}  // namespace monojit::emulator
