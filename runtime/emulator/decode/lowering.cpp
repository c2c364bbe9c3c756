#include "runtime/emulator/decode/lowering.h"

#include <fmt/format.h>

#include "runtime/emulator/checks/wave_checks.h"
#include "runtime/emulator/execute/control.h"
#include "runtime/emulator/execute/fault.h"
#include "runtime/emulator/execute/register_file.h"

namespace monojit::emulator {
namespace {

/// An instruction that can't be executed: imm is its place in the program's list of problems.
void refuse(Wave& wave, const MicroOp* op) {
  wave_fault(FailureKind::kIllegalInstruction, op, wave.program->problems[op->imm]);
}

void run_off(Wave&, const MicroOp* op) {
  wave_fault(FailureKind::kIllegalInstruction, op, "execution ran past the end of the code");
}

}  // namespace

Lowering::Lowering(const InstructionTable& table, const ChipLimits& chip, MatrixModel matrix, RegisterBudget registers,
                   ProgramVariant variant, Program& program)
    : table_(table), chip_(chip), matrix_(matrix), registers_(registers), variant_(variant), program_(program) {
  program_.rows = registers.vgprs + registers.agprs;
}

MicroOp& Lowering::add(Handler handler, u32 dst, u32 a, u32 b, u32 c, u32 imm, u32 aux) {
  program_.counts.push_back(counts_);
  return program_.ops.emplace_back(MicroOp{handler, dst, a, b, c, imm, aux});
}

void Lowering::lower(const Instruction& in, bool decoded, const MachineFacts& facts) {
  temporary_rows_used_ = temporary_scalars_used_ = 0;
  const std::size_t first = program_.ops.size();
  const std::size_t first_branch = branches_.size();
  program_.instructions.push_back({in.address, in.bytes, static_cast<u32>(first), in.text});
  const bool skippable = program_.may_skip && decoded && !in.mnemonic.starts_with("s_");
  if (skippable) add(table_.step(".may_skip").handlers[0], 0);
  if (variant_ == ProgramVariant::kChecked) {
    program_.facts.push_back(facts_of(in, decoded ? facts : MachineFacts{}, chip_.chip));
    add(probe_instruction, 0, 0, 0, 0, static_cast<u32>(program_.facts.size() - 1));
  }
  const Entry* const entry = decoded ? table_.find(in.mnemonic) : nullptr;
  const StaticCounts before = counts_;
  try {
    if (!decoded) throw Unsupported("not an instruction of this chip");
    lower_known(in, entry);
    if (skippable) program_.ops[first].imm = static_cast<u32>(program_.ops.size() - first);
  } catch (const Unsupported& reason) {
    program_.ops.resize(first);  // and with them a probe
    program_.counts.resize(first);
    branches_.resize(first_branch);
    counts_ = before;
    add(refuse, 0, 0, 0, 0, static_cast<u32>(program_.problems.size()));
    program_.problems.push_back(fmt::format("{}: {}", in.mnemonic, reason.what()));
  }
  const bool matrix = in.mnemonic.starts_with("v_mfma_") || in.mnemonic.starts_with("v_smfmac_");
  const CountClass count = matrix                          ? CountClass::kMatrix
                           : entry != nullptr              ? entry->count
                           : in.mnemonic.starts_with("v_") ? CountClass::kVector
                                                           : CountClass::kOther;
  // Micro-ops of this instruction were entered with the counts before it; what follows sees it counted.
  ++counts_[static_cast<u32>(CountClass::kAll)];
  ++counts_[static_cast<u32>(count)];
}

void Lowering::finish() {
  program_.instructions.push_back({~u64{0}, 0, static_cast<u32>(program_.ops.size()), "(end of the code)"});
  add(run_off, 0);
  program_.counts.push_back(counts_);
  std::unordered_map<u64, u32> op_of_address;
  for (const InstructionRecord& record : program_.instructions)
    op_of_address.try_emplace(record.address, record.first_op);
  for (const Branch& branch : branches_) {
    const auto target = op_of_address.find(branch.target);
    if (target == op_of_address.end()) {
      program_.ops[branch.op] = MicroOp{refuse, 0, 0, 0, 0, static_cast<u32>(program_.problems.size()), 0};
      program_.problems.push_back(
          fmt::format("branch to {:#x}, where no instruction of this kernel begins", branch.target));
    } else {
      program_.ops[branch.op].imm = target->second - branch.op;
    }
  }
}

void Lowering::lower_known(const Instruction& in, const Entry* entry) {
  if (in.mnemonic.starts_with("v_mfma_")) return lower_matrix(in);
  if (in.mnemonic.starts_with("v_smfmac_")) return lower_sparse_matrix(in);
  if (entry != nullptr && in.mnemonic.starts_with("s_set_gpr_idx_")) return lower_vgpr_index(in, *entry);
  if (entry != nullptr) return vgpr_indexing_ ? lower_indexed(in, *entry) : lower_entry(in, *entry);
  if (!in.mnemonic.starts_with("v_cmpx_")) throw Unsupported("not known to the emulator");
  const Entry* const compare = table_.find("v_cmp_" + std::string(in.mnemonic.substr(7)));
  if (compare == nullptr) throw Unsupported("not known to the emulator");
  lower_vector(in, *compare);
}

void Lowering::lower_entry(const Instruction& in, const Entry& entry) {
  switch (entry.form) {
    case Form::kHandler:
      return lower_handler(in, entry);
    case Form::kVector:
    case Form::kCompare:
      return lower_vector(in, entry);
    case Form::kPair:
      return lower_pair(in, entry);
    case Form::kWindows:
      return lower_windows(in, entry);
    case Form::kMatrix:
      return lower_matrix(in);
    case Form::kScalar:
      return lower_scalar(in, entry);
    case Form::kBuffer:
      return lower_buffer(in, entry);
    case Form::kFlat:
      return lower_flat(in, entry);
    case Form::kLds:
      return lower_lds(in, entry);
    case Form::kScalarMemory:
      return lower_scalar_memory(in, entry);
    case Form::kBranch:
      return lower_branch(in, entry);
    case Form::kImmediateOnly: {
      const Handler observing = observing_handler(entry);
      add(observing != nullptr ? observing : entry.handlers[0], 0, 0, 0, 0, in.simm16());
      return;
    }
    case Form::kHardwareRegister:
      return lower_hardware_register(in, entry);
    case Form::kDropped:
      // A branch target needs a micro-op of its own only if something follows; the next instruction's first one serves.
      if (const Handler observing = observing_handler(entry); observing != nullptr)
        add(observing, 0, 0, 0, 0, in.simm16(), policy_bits(in));
      return;
  }
}

const Operand& Lowering::operand(const Instruction& in, std::size_t index) const {
  if (index >= in.operands.size()) throw Unsupported(fmt::format("operand {} is missing", index));
  return in.operands[index];
}

u32 Lowering::row(const Operand& operand) const {
  const bool accumulation = operand.kind == Operand::Kind::kAgpr;
  if (!operand.is_row()) throw Unsupported(fmt::format("{} is not a vector register", operand.text));
  const u32 limit = accumulation ? registers_.agprs : registers_.vgprs;
  if (operand.index + operand.count > limit) {
    throw Unsupported(fmt::format("{} is beyond the {} {} of this kernel's descriptor", operand.text, limit,
                                  accumulation ? "AGPRs" : "VGPRs"));
  }
  return row_offset(operand.index + (accumulation ? registers_.vgprs : 0));
}

u32 Lowering::row_or_none(const Operand& operand) const {
  return operand.kind == Operand::Kind::kOff ? kNoOperand : row(operand);
}

u32 Lowering::temporary_row(u32 rows) {
  if (temporary_rows_used_ + rows > kTemporaryRows) throw Unsupported("needs more temporary rows than there are");
  const u32 first = temporary_rows_used_;
  temporary_rows_used_ += rows;
  return row_offset(program_.rows + first);
}

u32 Lowering::temporary_scalar(u32 words) {
  temporary_scalars_used_ = (temporary_scalars_used_ + words - 1) / words * words;
  if (temporary_scalars_used_ + words > kTemporaryScalars)
    throw Unsupported("needs more temporary scalars than there are");
  const u32 first = temporary_scalars_used_;
  temporary_scalars_used_ += words;
  return scalar_offset(kTemporaryScalarWord + first);
}

u32 Lowering::constant32(u32 value) {
  const auto [found, fresh] = constants32_.try_emplace(value, static_cast<u32>(program_.constants.size()));
  if (fresh) program_.constants.push_back(value);
  return program_.constants_offset() + found->second * 4;
}

u32 Lowering::constant64(u64 value) {
  const auto found = constants64_.find(value);
  if (found != constants64_.end()) return program_.constants_offset() + found->second * 4;
  if (program_.constants.size() % 2 != 0) program_.constants.push_back(0);
  const u32 index = static_cast<u32>(program_.constants.size());
  constants64_.emplace(value, index);
  program_.constants.push_back(static_cast<u32>(value));
  program_.constants.push_back(static_cast<u32>(value >> 32));
  return program_.constants_offset() + index * 4;
}

void Lowering::lower_scalar(const Instruction& in, const Entry& entry) {
  std::size_t next = 0;
  const u32 dst = entry.result == OperandType::kNone ? 0 : scalar(operand(in, next++), entry.result);
  u32 implied = 0;
  if ((entry.flags & (kImmediate | kUnsignedImmediate)) != 0) ++implied;
  if ((entry.flags & kTied) != 0) ++implied;
  std::vector<u32> sources;
  for (u32 i = 0; i + implied < entry.source_count; ++i)
    sources.push_back(scalar(operand(in, next++), entry.sources[i]));
  if ((entry.flags & kImmediate) != 0)
    sources.push_back(constant32(static_cast<u32>(i32{static_cast<i16>(in.simm16())})));
  if ((entry.flags & kUnsignedImmediate) != 0) sources.push_back(constant32(in.simm16()));
  if ((entry.flags & kTied) != 0) sources.push_back(dst);
  sources.resize(4);
  add(entry.handlers[0], dst, sources[0], sources[1], sources[2], sources[3]);
}

void Lowering::lower_handler(const Instruction& in, const Entry& entry) {
  if (in.dpp || in.sdwa) throw Unsupported("DPP and SDWA are not possible here");
  std::array<u32, 4> offsets{};
  u32 rows = 0;
  if (in.operands.size() > offsets.size()) throw Unsupported("has more operands than expected");
  for (std::size_t i = 0; i < in.operands.size(); ++i) {
    const Source operand = source(in.operands[i], OperandType::k32);
    offsets[i] = operand.offset;
    rows |= operand.row ? 1u << i : 0;
  }
  add(entry.handlers[0], offsets[0], offsets[1], offsets[2], offsets[3],
      in.mnemonic.starts_with("ds_") ? in.simm16() : 0, rows);
}

void Lowering::lower_branch(const Instruction& in, const Entry& entry) {
  const u32 dst = in.operands.size() > 1 ? scalar(operand(in, 0), OperandType::k64) : 0;
  const i64 distance = i64{static_cast<i16>(in.simm16())} * 4;
  branches_.push_back({static_cast<u32>(program_.ops.size()), in.address + in.bytes + static_cast<u64>(distance)});
  add(entry.handlers[0], dst);
}

void Lowering::lower_hardware_register(const Instruction& in, const Entry& entry) {
  if (in.mnemonic == "s_getreg_b32") {
    add(entry.handlers[0], scalar(operand(in, 0), OperandType::k32), 0, 0, 0, in.simm16());
  } else if (in.mnemonic == "s_setreg_imm32_b32") {
    add(entry.handlers[0], 0, constant32(static_cast<u32>(in.encoding >> 32)), 0, 0, in.simm16());
  } else {
    add(entry.handlers[0], 0, scalar(operand(in, 1), OperandType::k32), 0, 0, in.simm16());
  }
}

}  // namespace monojit::emulator
