#include "runtime/emulator/checks/wave_checks.h"

#include <fmt/format.h>

#include "runtime/emulator/checks/buffer_descriptor.h"
#include "runtime/emulator/checks/race_detector.h"
#include "runtime/emulator/execute/fault.h"

namespace monojit::emulator {
namespace {

[[noreturn]] void complain(const MicroOp* op, const std::string& text) {
  wave_fault(FailureKind::kCheckFailed, op, text);
}

/// The descriptor of a MUBUF instruction: its only tuple of four scalars.
void check_buffer(Wave& wave, const MicroOp* op, const InstructionFacts& facts) {
  if (facts.kind != InstructionKind::kVectorMemory) return;
  for (const RegisterUse& use : facts.registers) {
    if (use.file != RegisterUse::File::kScalar || use.count != 4) continue;
    u32 words[4];
    for (u32 i = 0; i < 4; ++i) words[i] = wave.word(scalar_offset(use.first + i));
    if (const auto problem = descriptor_problem(words)) complain(op, *problem);
  }
}

}  // namespace

WaveChecks::WaveChecks(const Checks& checks, Chip chip, const KernelDescriptor& kernel, RaceDetector* races)
    : checks_(checks), races_(races) {
  if (checks.waits) pending_.emplace(kernel.vgprs, kernel.agprs);
  if (checks.hazards) hazards_.emplace(chip, kernel.vgprs, kernel.agprs);
  if (!checks.registers) return;
  defined_.emplace(kernel.vgprs, kernel.agprs);
  u32 scalars = kernel.user_sgprs + (kernel.workgroup_info ? 1 : 0);
  for (const bool wanted : kernel.workgroup_id) scalars += wanted ? 1 : 0;
  for (u32 i = 0; i < scalars; ++i) defined_->define(RegisterUse::File::kScalar, i);
  defined_->define(RegisterUse::File::kVgpr, 0);
}

void WaveChecks::before(Wave& wave, const MicroOp* op) {
  const Program& program = *wave.program;
  const InstructionFacts& facts = program.facts[op->imm];
  if (pending_) {
    if (const auto found = pending_->issue(facts, op->imm))
      complain(op, fmt::format("{}\n  loaded by {}", found->text, program.describe(found->other)));
  }
  if (hazards_) {
    if (const auto found = hazards_->issue(facts, op->imm))
      complain(op, fmt::format("{}\n  earlier: {}", found->text, program.describe(found->other)));
  }
  if (defined_) {
    if (const auto found = defined_->issue(facts, wave.exec())) complain(op, *found);
  }
  if (checks_.exec && facts.kind == InstructionKind::kMatrix && wave.exec() != ~u64{0}) {
    complain(op,
             fmt::format("an MFMA under EXEC {:#018x}: it reads and writes all lanes whatever EXEC says", wave.exec()));
  }
  if (checks_.buffers) check_buffer(wave, op, facts);
  if (races_ != nullptr && facts.lds.count > 0) races_->lds_access(wave, op, facts.lds);
}

void probe_instruction(Wave& wave, const MicroOp* op) {
  wave.checks->before(wave, op);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

}  // namespace monojit::emulator
