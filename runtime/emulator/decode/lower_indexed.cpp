// VGPR indexing mode: from s_set_gpr_idx_on to s_set_gpr_idx_off.
#include <algorithm>
#include <array>

#include "runtime/emulator/decode/lowering.h"
#include "runtime/emulator/execute/vgpr_index.h"

namespace monojit::emulator {

void Lowering::lower_vgpr_index(const Instruction& in, const Entry& entry) {
  constexpr u32 kSopcSecondSource = 8;
  constexpr u32 kEnables = 15;
  const u32 enables = in.mnemonic == "s_set_gpr_idx_on" ? static_cast<u32>(in.encoding >> kSopcSecondSource) & kEnables
                                                        : in.simm16() & kEnables;
  add(entry.handlers[0], 0, entry.source_count != 0 ? scalar(operand(in, 0), OperandType::k32) : 0, 0, 0, enables);
  if (in.mnemonic == "s_set_gpr_idx_on") vgpr_indexing_ = true;
  if (in.mnemonic == "s_set_gpr_idx_off") vgpr_indexing_ = false;
}

void Lowering::lower_indexed(const Instruction& in, const Entry& entry) {
  constexpr std::array kJumps{"s_branch", "s_cbranch_", "s_setpc", "s_swappc", "s_call"};
  if (std::ranges::any_of(kJumps, [&](const char* jump) { return in.mnemonic.starts_with(jump); }))
    throw Unsupported("a jump between s_set_gpr_idx_on and s_set_gpr_idx_off");
  if (!in.mnemonic.starts_with("v_")) return lower_entry(in, entry);
  // A tied destination is a source too, and a mask would move the sources on by one.
  const bool plain = (entry.form == Form::kVector || entry.form == Form::kHandler) && !in.dpp && !in.sdwa &&
                     !entry.mask_result && (entry.flags & (kTied | kVccSource)) == 0;
  u32 rows = 0;
  for (std::size_t i = 0; i < in.operands.size(); ++i) {
    if (in.operands[i].kind != Operand::Kind::kVgpr) continue;
    const u32 field = i == 0 ? kIndexedDestination : static_cast<u32>(i) - 1;
    rows |= in.operands[i].count << (kIndexedRowsBits * field);
  }
  const std::size_t first = program_.ops.size();
  add(run_indexed, 0, 0, 0, 0, registers_.vgprs, rows);
  lower_entry(in, entry);
  if (!plain || program_.ops.size() != first + 2)
    throw Unsupported("in VGPR indexing mode only instructions without modifiers and carries are possible");
}

}  // namespace monojit::emulator
