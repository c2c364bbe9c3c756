// Vector instructions that are another one done several times: packed f32, and sums of byte distances in windows.
#include "runtime/emulator/decode/lowering.h"
#include "runtime/emulator/execute/register_file.h"

namespace monojit::emulator {
namespace {

// VOP3P: op_sel in bits 11..13, op_sel_hi in 59, 60 and 14, neg_lo in 61..63, neg_hi in 8..10.
bool selects_high(u64 encoding, u32 source, bool high_result) {
  const u32 bit = !high_result ? 11 + source : source < 2 ? 59 + source : 14;
  return (encoding >> bit & 1) != 0;
}
bool negates(u64 encoding, u32 source, bool high_result) {
  return (encoding >> ((high_result ? 8 : 61) + source) & 1) != 0;
}

}  // namespace

/// v_mqsad_u32_u8: a window of four bytes moves over the first source, the third one has an addend for each place.
void Lowering::lower_windows(const Instruction& in, const Entry& entry) {
  const Entry* const saturating = in.has("clamp") ? table_.find(std::string(entry.base) + "+clamp") : nullptr;
  const Entry& sum = saturating != nullptr ? *saturating : table_.step(entry.base);
  const Source bytes = in_row(source(operand(in, 1), OperandType::k64), OperandType::k64);
  const Source reference = source(operand(in, 2), OperandType::k32);
  const u32 addends = row(operand(in, 3)), destination = row(operand(in, 0));
  constexpr u32 kWindows = 4;
  const u32 results = temporary_row(kWindows), window = temporary_row();
  for (u32 i = 0; i < kWindows; ++i) {
    const Source shift{constant32(i), false};
    emit_vector(table_.step("v_alignbyte_b32"), window, {{bytes.offset + kRowBytes, true}, {bytes.offset, true}, shift},
                0);
    emit_vector(sum, results + i * kRowBytes, {{window, true}, reference, {addends + i * kRowBytes, true}}, 0);
  }
  for (u32 i = 0; i < kWindows; ++i)
    add(table_.step("v_mov_b32").handlers[1], destination + i * kRowBytes, results + i * kRowBytes);
}

void Lowering::lower_pair(const Instruction& in, const Entry& entry) {
  const Entry& half = table_.step(entry.base);
  const bool move = entry.base == "v_mov_b32";  // low from the first source, high from the second
  const u32 destination = row(operand(in, 0));
  const u32 low_result = temporary_row();
  for (u32 high = 0; high < 2; ++high) {
    std::vector<Source> sources;
    for (u32 i = 0; i < entry.source_count; ++i) {
      if (move && i != high) continue;
      const Operand& pair = operand(in, i + 1);
      Source value = source(pair, OperandType::k32);
      // v_pk_mov_b32 takes its high half by op_sel[1].
      const bool select = selects_high(in.encoding, i, high != 0 && !move);
      if (pair.count == 2 && select) value.offset += value.row ? kRowBytes : 4;
      Operand sign;
      sign.negate = negates(in.encoding, i, high != 0);
      sources.push_back(apply_sign(sign, OperandType::k32, value));
    }
    const u32 target = high != 0 ? destination + kRowBytes : low_result;
    emit_vector(half, target, sources, 0);
    if (in.has("clamp")) add(table_.step(".clamp_f32").handlers[1], target, target);
  }
  // The low result waits until the high half has read its sources.
  add(table_.step("v_mov_b32").handlers[1], destination, low_result);
}

}  // namespace monojit::emulator
