// SOPP and the operations that change the program counter or MODE: branches, calls, barriers, sleeps, traps.
#include <fmt/format.h>
#include <immintrin.h>

#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/control.h"
#include "runtime/emulator/execute/fault.h"
#include "runtime/emulator/execute/memory_flags.h"
#include "runtime/emulator/execute/mode.h"
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

/// Host address of the instruction behind `op`.
u64 address_after(const Wave& wave, const MicroOp* op) {
  const InstructionRecord& instruction = wave.program->instruction_of(op);
  return instruction.address + instruction.bytes + wave.program->load_bias;
}

/// The micro-op at a host address, or a fault.
const MicroOp* jump_target(const Wave& wave, const MicroOp* op, u64 address) {
  const MicroOp* const target = wave.program->at_address(address - wave.program->load_bias);
  if (target == nullptr) {
    wave_fault(FailureKind::kIllegalInstruction, op,
               fmt::format("jump to {:#x}, where no instruction of this kernel begins", address));
  }
  return target;
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

/// SIMM16: vmcnt in bits 3:0 and 15:14, lgkmcnt in bits 11:8.
void observed_wait(Wave& wave, const MicroOp* op) {
  const WaitCounts counts{.vector_memory = (op->imm & 15) | (op->imm >> 14 & 3) << 4, .lds = op->imm >> 8 & 15};
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

void trap(Wave&, const MicroOp* op) {
  wave_fault(FailureKind::kTrap, op, fmt::format("the kernel executed s_trap {}", op->imm & 255));
}

// Hardware registers, by the number in SIMM16[5:0]; [10:6] is the first bit, [15:11] the width minus one.
enum class HardwareRegister : u8 { kMode = 1, kHardwareId = 4, kGprAllocation = 5, kLdsAllocation = 6, kXccId = 20 };

u32 field_mask(u32 simm) {
  const u32 width = (simm >> 11 & 31) + 1;
  return width == 32 ? ~0u : (1u << width) - 1;
}

u32 read_register(const Wave& wave, const MicroOp* op) {
  switch (static_cast<HardwareRegister>(op->imm & 63)) {
    case HardwareRegister::kMode:
      return wave.mode;
    case HardwareRegister::kHardwareId:
      return wave.number & 15;
    case HardwareRegister::kGprAllocation:
    case HardwareRegister::kLdsAllocation:
    case HardwareRegister::kXccId:
      return 0;
  }
  wave_fault(FailureKind::kIllegalInstruction, op, fmt::format("hardware register {} is not emulated", op->imm & 63));
}

void get_register(Wave& wave, const MicroOp* op) {
  wave.word(op->dst) = read_register(wave, op) >> (op->imm >> 6 & 31) & field_mask(op->imm);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// a: the value.
void set_register(Wave& wave, const MicroOp* op) {
  if ((op->imm & 63) != static_cast<u32>(HardwareRegister::kMode)) {
    wave_fault(FailureKind::kIllegalInstruction, op,
               fmt::format("hardware register {} can't be written here", op->imm & 63));
  }
  const u32 shift = op->imm >> 6 & 31;
  const u32 mask = field_mask(op->imm) << shift;
  set_mode(wave, (wave.mode & ~mask) | (wave.word(op->a) << shift & mask));
  _mm_setcsr(wave.host_mode32);
  MONOJIT_EMULATOR_NEXT(wave, op);
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
    control("s_getreg_b32", Form::kHardwareRegister, get_register),
    control("s_setreg_b32", Form::kHardwareRegister, set_register),
    control("s_setreg_imm32_b32", Form::kHardwareRegister, set_register),

    // One coherent memory and immediate loads: nothing to wait for, nothing to write back or invalidate, unless a
    // memory model looks.
    dropped("s_waitcnt", observed_wait),
    dropped("s_nop"),
    dropped("s_setprio"),
    dropped("s_sethalt"),
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
    dropped("ds_nop"),
    dropped("buffer_wbl2", observed_write_back),
    dropped("buffer_inv", observed_invalidate),
    dropped("buffer_wbinvl1"),
    dropped("buffer_wbinvl1_vol"),
};

}  // namespace

std::span<const Entry> scalar_control_entries() { return kEntries; }

}  // namespace monojit::emulator
