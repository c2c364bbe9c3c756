// From machine instructions to micro-ops. Whatever a handler does not take directly (operand modifiers, SDWA, DPP,
// halves, output modifiers) is split into steps through temporary rows here, so that handlers stay plain.
#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/emulator/chip.h"
#include "runtime/emulator/decode/instruction.h"
#include "runtime/emulator/decode/instruction_table.h"
#include "runtime/emulator/decode/program.h"
#include "runtime/emulator/decode/register_use.h"
#include "runtime/emulator/numerics/matrix.h"

namespace monojit::emulator {

/// Registers that a kernel descriptor grants.
struct RegisterBudget {
  u32 vgprs = 0;  ///< architectural ones; accumulation registers follow at this row
  u32 agprs = 0;
};

class Lowering {
 public:
  Lowering(const InstructionTable& table, const ChipLimits& chip, MatrixModel matrix, RegisterBudget registers,
           ProgramVariant variant, Program& program);

  /// Appends the instruction's micro-ops. One that can't be executed becomes a micro-op that faults when reached.
  /// `facts` count in checked programs only.
  void lower(const Instruction& instruction, bool decoded, const MachineFacts& facts);
  /// Resolves branches and ends the program. Nothing may be lowered afterwards.
  void finish();

 private:
  /// Why an instruction can't be executed.
  struct Unsupported : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  /// A source as a handler takes it.
  struct Source {
    u32 offset = 0;
    bool row = false;
  };

  void lower_known(const Instruction& in, const Entry* entry);
  void lower_entry(const Instruction& in, const Entry& entry);
  void lower_vector(const Instruction& in, const Entry& entry);
  void lower_pair(const Instruction& in, const Entry& entry);
  void lower_windows(const Instruction& in, const Entry& entry);
  void lower_matrix(const Instruction& in);
  void lower_sparse_matrix(const Instruction& in);
  void lower_scalar(const Instruction& in, const Entry& entry);
  void lower_handler(const Instruction& in, const Entry& entry);
  void lower_buffer(const Instruction& in, const Entry& entry);
  void lower_flat(const Instruction& in, const Entry& entry);
  void lower_lds(const Instruction& in, const Entry& entry);
  void lower_scalar_memory(const Instruction& in, const Entry& entry);
  void lower_branch(const Instruction& in, const Entry& entry);
  void lower_vgpr_index(const Instruction& in, const Entry& entry);
  /// An instruction behind s_set_gpr_idx_on.
  void lower_indexed(const Instruction& in, const Entry& entry);
  void lower_hardware_register(const Instruction& in, const Entry& entry);

  /// The handler of a memory instruction in this variant of the program; null if there is none.
  [[nodiscard]] Handler memory_handler(const Entry& entry, u32 index) const;
  /// The handler that an instruction has only because a memory model looks, or null.
  [[nodiscard]] Handler observing_handler(const Entry& entry) const;
  static u32 policy_bits(const Instruction& in);

  // Steps of vector instructions.
  /// A field of the destination register.
  struct RegisterPart {
    u32 shift = 0;
    u32 width = 32;
    bool keeps_rest = true;
    bool extends_sign = false;
  };
  void lower_compare(const Instruction& in, const Entry& entry);
  static std::optional<RegisterPart> written_part(const Instruction& in, const Entry& entry);
  static u32 semantic_bits(const Instruction& in, const Entry& entry);
  std::vector<Source> vector_sources(const Instruction& in, const Entry& entry, std::size_t first, u32 destination);
  Source vector_source(const Instruction& in, const Entry& entry, u32 index, const Operand& operand);
  Source select_sdwa(const Instruction& in, u32 index, const Operand& operand, Source source);
  void end_moved_lanes();
  Source move_lanes(const Instruction& in, OperandType type, Source source);
  Source select_half(const Instruction& in, const Entry& entry, u32 index, OperandType type, Source source);
  Source apply_sign(const Operand& operand, OperandType type, Source source);
  void emit_vector(const Entry& entry, u32 destination, const std::vector<Source>& sources, u32 aux);
  void finish_result(const Instruction& in, const Entry& entry, u32 result);
  Source in_row(Source source, OperandType type);
  u32 permutation_of(const Instruction& in);

  // Operands as register file offsets.
  [[nodiscard]] Source source(const Operand& operand, OperandType type);
  [[nodiscard]] u32 scalar(const Operand& operand, OperandType type);
  [[nodiscard]] u32 row(const Operand& operand) const;
  [[nodiscard]] u32 row_or_none(const Operand& operand) const;
  [[nodiscard]] u32 constant(const Operand& operand, OperandType type);
  [[nodiscard]] u32 constant32(u32 value);
  [[nodiscard]] u32 constant64(u64 value);
  [[nodiscard]] u32 temporary_row(u32 rows = 1);
  [[nodiscard]] u32 temporary_scalar(u32 words = 1);
  [[nodiscard]] const Operand& operand(const Instruction& in, std::size_t index) const;

  MicroOp& add(Handler handler, u32 dst, u32 a = 0, u32 b = 0, u32 c = 0, u32 imm = 0, u32 aux = 0);

  const InstructionTable& table_;
  const ChipLimits& chip_;
  MatrixModel matrix_;
  RegisterBudget registers_;
  ProgramVariant variant_;
  Program& program_;
  StaticCounts counts_{};
  bool vgpr_indexing_ = false;  ///< between s_set_gpr_idx_on and s_set_gpr_idx_off, in the order of the code
  u32 temporary_rows_used_ = 0;
  u32 temporary_scalars_used_ = 0;
  std::unordered_map<u32, u32> constants32_;
  std::unordered_map<u64, u32> constants64_;
  std::map<std::string, u32, std::less<>> permutations_;
  struct Branch {
    u32 op;
    u64 target;
  };
  std::vector<Branch> branches_;
};

}  // namespace monojit::emulator
