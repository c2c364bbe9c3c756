// Scalar registers chosen at run time (s_movrel*), and VSKIP: in programs that switch it on, each vector instruction
// has a micro-op in front that looks at MODE.
#include <fmt/format.h>

#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/control.h"
#include "runtime/emulator/execute/fault.h"

namespace monojit::emulator {
namespace {

u32 m0(Wave& wave) { return wave.word(scalar_offset(kM0Word)); }

/// VSKIP = bit b[4:0] of a.
void skip_vectors(Wave& wave, const MicroOp* op) {
  const bool skip = (wave.word(op->a) >> (wave.word(op->b) & 31) & 1) != 0;
  wave.mode = (wave.mode & ~kModeSkipBit) | (skip ? kModeSkipBit : 0);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// imm: distance to the next instruction.
void may_skip(Wave& wave, const MicroOp* op) {
  if ((wave.mode & kModeSkipBit) == 0) MONOJIT_EMULATOR_NEXT(wave, op);
  const MicroOp* const next = op + op->imm;
  [[gnu::musttail]] return next->run(wave, next);
}

/// Offset of scalar register `offset` + M0, or a fault.
u32 relative(Wave& wave, const MicroOp* op, u32 offset, u32 words) {
  const u32 word = offset / 4 + m0(wave);
  if (m0(wave) >= kFlatScratchWord || word + words > kFlatScratchWord) {
    wave_fault(FailureKind::kIllegalInstruction, op,
               fmt::format("s_movrel with M0 = {} leads past the scalar registers", m0(wave)));
  }
  return scalar_offset(word);
}

template <class T>
void move_from_relative(Wave& wave, const MicroOp* op) {
  std::memcpy(wave.registers + op->dst, wave.registers + relative(wave, op, op->a, sizeof(T) / 4), sizeof(T));
  MONOJIT_EMULATOR_NEXT(wave, op);
}

template <class T>
void move_to_relative(Wave& wave, const MicroOp* op) {
  std::memcpy(wave.registers + relative(wave, op, op->dst, sizeof(T) / 4), wave.registers + op->a, sizeof(T));
  MONOJIT_EMULATOR_NEXT(wave, op);
}

consteval Entry relative_move(std::string_view mnemonic, OperandType type, Handler handler) {
  return {.mnemonic = mnemonic,
          .form = Form::kScalar,
          .count = CountClass::kScalar,
          .result = type,
          .source_count = 1,
          .sources = {type},
          .handlers = {handler}};
}

constexpr Entry kEntries[] = {
    {.mnemonic = "s_setvskip",
     .form = Form::kScalar,
     .count = CountClass::kScalar,
     .source_count = 2,
     .sources = {OperandType::k32, OperandType::k32},
     .handlers = {skip_vectors}},
    {.mnemonic = ".may_skip", .form = Form::kHandler, .handlers = {may_skip}},
    relative_move("s_movrels_b32", OperandType::k32, move_from_relative<u32>),
    relative_move("s_movrels_b64", OperandType::k64, move_from_relative<u64>),
    relative_move("s_movreld_b32", OperandType::k32, move_to_relative<u32>),
    relative_move("s_movreld_b64", OperandType::k64, move_to_relative<u64>),
};

}  // namespace

std::span<const Entry> vector_skip_entries() { return kEntries; }

}  // namespace monojit::emulator
