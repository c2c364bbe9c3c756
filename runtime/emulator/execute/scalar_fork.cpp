// s_cbranch_g_fork, s_cbranch_i_fork and s_cbranch_join: both sides of a divergent branch, the one with fewer lanes
// first. What is left of the other one waits on a stack of scalar registers: {address, EXEC}, four words an entry.
#include <bit>

#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/control.h"
#include "runtime/emulator/execute/jump.h"

namespace monojit::emulator {
namespace {

constexpr u32 kEntryWords = 4;
constexpr u32 kLargestDepth = 6;

u32 depth(const Wave& wave) { return wave.mode >> kModeStackShift; }

void set_depth(Wave& wave, u32 value) {
  wave.mode = (wave.mode & ((1u << kModeStackShift) - 1)) | value << kModeStackShift;
}

void push(Wave& wave, const MicroOp* op, u64 address, u64 lanes) {
  const u32 entry = depth(wave);
  if (entry >= kLargestDepth) {
    wave_fault(FailureKind::kIllegalInstruction, op, "more than six nested s_cbranch_*_fork");
  }
  wave.set_pair(scalar_offset(kEntryWords * entry), address);
  wave.set_pair(scalar_offset(kEntryWords * entry + 2), lanes);
  set_depth(wave, entry + 1);
}

/// Where a fork on `condition` goes on: at `target`, or behind `op`.
const MicroOp* fork_to(Wave& wave, const MicroOp* op, u64 condition, const MicroOp* target, u64 target_address) {
  const u64 pass = condition & wave.exec(), fail = ~condition & wave.exec();
  if (fail == 0) return target;
  if (pass == 0) return op + 1;
  const bool fail_first = std::popcount(fail) < std::popcount(pass);
  push(wave, op, fail_first ? target_address : address_after(wave, op), fail_first ? pass : fail);
  wave.set_pair(scalar_offset(kExecWord), fail_first ? fail : pass);
  return fail_first ? op + 1 : target;
}

/// a: the condition's lanes; b: the target's address.
void fork_register(Wave& wave, const MicroOp* op) {
  const u64 address = wave.pair(op->b);
  const MicroOp* const target = fork_to(wave, op, wave.pair(op->a), jump_target(wave, op, address), address);
  if (take_branch(wave, op, target)) return;
  [[gnu::musttail]] return target->run(wave, target);
}

/// dst: the condition's lanes; imm: distance to the target in micro-ops.
void fork_immediate(Wave& wave, const MicroOp* op) {
  const MicroOp* const there = op + static_cast<i32>(op->imm);
  const u64 address = wave.program->instruction_of(there).address + wave.program->load_bias;
  const MicroOp* const target = fork_to(wave, op, wave.pair(op->dst), there, address);
  if (take_branch(wave, op, target)) return;
  [[gnu::musttail]] return target->run(wave, target);
}

/// a: the stack's depth before the fork.
void join(Wave& wave, const MicroOp* op) {
  const u32 entries = depth(wave);
  if (entries == wave.word(op->a)) MONOJIT_EMULATOR_NEXT(wave, op);
  if (entries == 0) wave_fault(FailureKind::kIllegalInstruction, op, "s_cbranch_join without a fork");
  set_depth(wave, entries - 1);
  const u64 address = wave.pair(scalar_offset(kEntryWords * (entries - 1)));
  wave.set_pair(scalar_offset(kExecWord), wave.pair(scalar_offset(kEntryWords * (entries - 1) + 2)));
  const MicroOp* const target = jump_target(wave, op, address);
  if (take_branch(wave, op, target)) return;
  [[gnu::musttail]] return target->run(wave, target);
}

constexpr Entry kEntries[] = {
    {.mnemonic = "s_cbranch_g_fork",
     .form = Form::kScalar,
     .count = CountClass::kScalar,
     .source_count = 2,
     .sources = {OperandType::k64, OperandType::k64},
     .handlers = {fork_register}},
    {.mnemonic = "s_cbranch_i_fork", .form = Form::kBranch, .count = CountClass::kScalar, .handlers = {fork_immediate}},
    {.mnemonic = "s_cbranch_join",
     .form = Form::kScalar,
     .count = CountClass::kScalar,
     .source_count = 1,
     .sources = {OperandType::k32},
     .handlers = {join}},
};

}  // namespace

std::span<const Entry> scalar_fork_entries() { return kEntries; }

}  // namespace monojit::emulator
