// SOPP and the operations that change the program counter: branches, calls, barriers, sleeps, traps.
#include <fmt/format.h>

#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/control.h"
#include "runtime/emulator/execute/fault.h"
#include "runtime/emulator/execute/jump.h"
#include "runtime/emulator/execute/memory_flags.h"
#include "runtime/emulator/execute/vgpr_index.h"
#include "runtime/emulator/memory/memory_model.h"

namespace monojit::emulator {
namespace {

bool always(Wave&) { return true; }
bool scc_clear(Wave& wave) { return wave.scc() == 0; }
bool scc_set(Wave& wave) { return wave.scc() != 0; }
bool vcc_zero(Wave& wave) { return wave.pair(scalar_offset(kVccWord)) == 0; }
bool vcc_not_zero(Wave& wave) { return wave.pair(scalar_offset(kVccWord)) != 0; }
bool exec_zero(Wave& wave) { return wave.exec() == 0; }
bool exec_not_zero(Wave& wave) { return wave.exec() != 0; }

/// imm: distance to the target in micro-ops.
template <auto kCondition>
void branch(Wave& wave, const MicroOp* op) {
  if (kCondition(wave)) {
    const MicroOp* const target = op + static_cast<i32>(op->imm);
    if (take_branch(wave, op, target)) return;
    [[gnu::musttail]] return target->run(wave, target);
  }
  MONOJIT_EMULATOR_NEXT(wave, op);
}

void get_pc(Wave& wave, const MicroOp* op) {
  wave.set_pair(op->dst, address_after(wave, op));
  MONOJIT_EMULATOR_NEXT(wave, op);
}

void set_pc(Wave& wave, const MicroOp* op) {
  const MicroOp* const target = jump_target(wave, op, wave.pair(op->a));
  if (take_branch(wave, op, target)) return;
  [[gnu::musttail]] return target->run(wave, target);
}

void swap_pc(Wave& wave, const MicroOp* op) {
  const u64 address = wave.pair(op->a);
  wave.set_pair(op->dst, address_after(wave, op));
  const MicroOp* const target = jump_target(wave, op, address);
  if (take_branch(wave, op, target)) return;
  [[gnu::musttail]] return target->run(wave, target);
}

/// s_call_b64: dst, and the target as for a branch.
void call(Wave& wave, const MicroOp* op) {
  wave.set_pair(op->dst, address_after(wave, op));
  const MicroOp* const target = op + static_cast<i32>(op->imm);
  if (take_branch(wave, op, target)) return;
  [[gnu::musttail]] return target->run(wave, target);
}

void end_program(Wave& wave, const MicroOp* op) {
  count_segment(wave, op + 1);
  wave.segment = wave.resume = op;
  wave.state = WaveState::kEnded;
}

void barrier(Wave& wave, const MicroOp* op) { yield_after(wave, op, WaveState::kAtBarrier); }

// What the instructions that plain programs drop, and those that end or gather waves, mean to a memory model.

void observed_end(Wave& wave, const MicroOp* op) {
  wave.worker->model->end_wave(wave);
  end_program(wave, op);
}

void observed_barrier(Wave& wave, const MicroOp* op) {
  wave.worker->model->barrier(wave, op);
  barrier(wave, op);
}

void observed_wait(Wave& wave, const MicroOp* op) {
  const WaitCounts counts = WaitCounts::of(op->imm);
  if (wave.worker->model->wait(wave, op, counts)) return yield_after(wave, op, WaveState::kPreempted);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

CachePolicy maintenance_policy(const MicroOp* op) {
  return {.scope = static_cast<Scope>(op->aux >> kScopeShift & 3), .non_temporal = (op->aux & kNonTemporal) != 0};
}

void observed_invalidate(Wave& wave, const MicroOp* op) {
  wave.worker->model->invalidate(wave, maintenance_policy(op));
  MONOJIT_EMULATOR_NEXT(wave, op);
}

void observed_write_back(Wave& wave, const MicroOp* op) {
  wave.worker->model->write_back(wave, maintenance_policy(op));
  MONOJIT_EMULATOR_NEXT(wave, op);
}

void observed_scalar_invalidate(Wave& wave, const MicroOp* op) {
  wave.worker->model->invalidate_scalar(wave);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// s_sleep 0 does not sleep.
void sleep(Wave& wave, const MicroOp* op) {
  if ((op->imm & 127) == 0) MONOJIT_EMULATOR_NEXT(wave, op);
  yield_after(wave, op, WaveState::kSleeping);
}

/// s_trap 3 is a debugger's (llvm.debugtrap): without one the driver's handler returns at once.
void trap(Wave& wave, const MicroOp* op) {
  constexpr u32 kDebugTrap = 3;
  if ((op->imm & 255) == kDebugTrap) MONOJIT_EMULATOR_NEXT(wave, op);
  wave_fault(FailureKind::kTrap, op, fmt::format("the kernel executed s_trap {}", op->imm & 255));
}

/// s_sethalt 1 and s_sendmsghalt: only a debugger lets the wave go on.
void halt(Wave& wave, const MicroOp* op) {
  if ((op->imm & 1) == 0) MONOJIT_EMULATOR_NEXT(wave, op);
  wave_fault(FailureKind::kTrap, op, "the kernel halted its own wave, which only a debugger could resume");
}

void halt_after_message(Wave&, const MicroOp* op) {
  wave_fault(FailureKind::kTrap, op,
             fmt::format("the kernel sent message {} and halted its own wave, which only a debugger could resume",
                         op->imm & 15));
}

/// s_rfe_*: what a trap handler ends with.
void return_from_trap(Wave&, const MicroOp* op) {
  wave_fault(FailureKind::kIllegalInstruction, op, "a return from a trap handler, outside of one");
}

consteval Entry control(std::string_view mnemonic, Form form, Handler handler, CountClass count = CountClass::kScalar,
                        Handler observed = nullptr) {
  return {
      .mnemonic = mnemonic, .form = form, .count = count, .handlers = {handler, nullptr, nullptr, nullptr, observed}};
}

consteval Entry dropped(std::string_view mnemonic, Handler observed = nullptr) {
  return {.mnemonic = mnemonic, .form = Form::kDropped, .handlers = {nullptr, nullptr, nullptr, nullptr, observed}};
}

/// Lowered by lower_vgpr_index().
constexpr Entry vgpr_index(std::string_view mnemonic, u8 sources, Handler handler) {
  return {.mnemonic = mnemonic,
          .form = Form::kScalar,
          .count = CountClass::kScalar,
          .source_count = sources,
          .sources = {OperandType::k32},
          .handlers = {handler}};
}

constexpr Entry kEntries[] = {
    control("s_branch", Form::kBranch, branch<always>),
    control("s_cbranch_scc0", Form::kBranch, branch<scc_clear>),
    control("s_cbranch_scc1", Form::kBranch, branch<scc_set>),
    control("s_cbranch_vccz", Form::kBranch, branch<vcc_zero>),
    control("s_cbranch_vccnz", Form::kBranch, branch<vcc_not_zero>),
    control("s_cbranch_execz", Form::kBranch, branch<exec_zero>),
    control("s_cbranch_execnz", Form::kBranch, branch<exec_not_zero>),
    control("s_call_b64", Form::kBranch, call),
    control("s_endpgm", Form::kImmediateOnly, end_program, CountClass::kOther, observed_end),
    control("s_endpgm_saved", Form::kImmediateOnly, end_program, CountClass::kOther, observed_end),
    control("s_barrier", Form::kImmediateOnly, barrier, CountClass::kOther, observed_barrier),
    control("s_sleep", Form::kImmediateOnly, sleep, CountClass::kOther),
    control("s_trap", Form::kImmediateOnly, trap, CountClass::kOther),
    {.mnemonic = "s_getpc_b64",
     .form = Form::kScalar,
     .count = CountClass::kScalar,
     .result = OperandType::k64,
     .handlers = {get_pc}},
    {.mnemonic = "s_setpc_b64",
     .form = Form::kScalar,
     .count = CountClass::kScalar,
     .source_count = 1,
     .sources = {OperandType::k64},
     .handlers = {set_pc}},
    {.mnemonic = "s_swappc_b64",
     .form = Form::kScalar,
     .count = CountClass::kScalar,
     .result = OperandType::k64,
     .source_count = 1,
     .sources = {OperandType::k64},
     .handlers = {swap_pc}},
    vgpr_index("s_set_gpr_idx_on", 1, vgpr_index_on),
    vgpr_index("s_set_gpr_idx_off", 0, vgpr_index_off),
    vgpr_index("s_set_gpr_idx_mode", 0, vgpr_index_enables),
    vgpr_index("s_set_gpr_idx_idx", 1, vgpr_index_value),
    control("s_sethalt", Form::kImmediateOnly, halt, CountClass::kOther),
    control("s_sendmsghalt", Form::kImmediateOnly, halt_after_message, CountClass::kOther),
    {.mnemonic = "s_rfe_b64",
     .form = Form::kScalar,
     .count = CountClass::kScalar,
     .source_count = 1,
     .sources = {OperandType::k64},
     .handlers = {return_from_trap}},
    {.mnemonic = "s_rfe_restore_b64",
     .form = Form::kScalar,
     .count = CountClass::kScalar,
     .source_count = 2,
     .sources = {OperandType::k64, OperandType::k32},
     .handlers = {return_from_trap}},

    // One coherent memory and immediate loads: nothing to wait for, nothing to write back or invalidate, unless a
    // memory model looks.
    dropped("s_waitcnt", observed_wait),
    dropped("s_nop"),
    dropped("s_setprio"),
    dropped("s_setkill"),
    dropped("s_wakeup"),
    dropped("s_icache_inv"),
    dropped("s_incperflevel"),
    dropped("s_decperflevel"),
    dropped("s_ttracedata"),
    dropped("s_sendmsg"),
    dropped("s_atc_probe"),
    dropped("s_atc_probe_buffer"),
    dropped("s_dcache_discard"),
    dropped("s_dcache_discard_x2"),
    dropped("s_dcache_inv", observed_scalar_invalidate),
    dropped("s_dcache_inv_vol", observed_scalar_invalidate),
    dropped("s_dcache_wb"),
    dropped("s_dcache_wb_vol"),
    dropped("s_cbranch_cdbgsys"),
    dropped("s_cbranch_cdbguser"),
    dropped("s_cbranch_cdbgsys_or_user"),
    dropped("s_cbranch_cdbgsys_and_user"),
    dropped("v_nop"),
    dropped("v_clrexcp"),
    dropped("ds_nop"),
    dropped("buffer_wbl2", observed_write_back),
    dropped("buffer_inv", observed_invalidate),
};

}  // namespace

std::span<const Entry> scalar_control_entries() { return kEntries; }

}  // namespace monojit::emulator
