// A kernel as the emulator executes it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/emulator/checks/instruction_facts.h"
#include "runtime/emulator/execute/counts.h"
#include "runtime/emulator/execute/micro_op.h"
#include "runtime/emulator/numerics/matrix.h"
#include "runtime/emulator/numerics/sparse.h"

namespace monojit::emulator {

/// Plain programs run on coherent memory: their waits and cache maintenance vanish. Observed ones ask a memory model.
/// Checked ones are observed, and a probe
/// looks at each instruction before it runs.
enum class ProgramVariant : u8 { kPlain, kObserved, kChecked };
inline constexpr u32 kProgramVariants = 3;

/// Where an instruction came from.
struct InstructionRecord {
  u64 address = 0;  ///< in the code object
  u32 bytes = 0;
  u32 first_op = 0;  ///< its first micro-op
  std::string text;  ///< as the disassembler prints it
};

/// Rows that hold something other than one kernel's data: lane permutations of DPP instructions.
struct alignas(64) LanePermutation {
  u32 source[kLanes];      ///< lane to read, or kNoOperand where there is none
  u64 valid = 0;           ///< lanes with a source
  u64 written = 0;         ///< lanes that row_mask and bank_mask let through
  bool zero_fill = false;  ///< bound_ctrl: lanes without a source read 0 instead of being left alone
};

/// An MFMA: what does not fit into a micro-op.
struct MatrixOperation {
  TileFunction function = nullptr;
  SparseTileFunction sparse = nullptr;  ///< instead of `function` for v_smfmac_*
  TileArguments arguments{};            ///< modifiers; the rows are filled in when it runs
  u32 scale_a = kNoOperand;             ///< register file offsets
  u32 scale_b = kNoOperand;
};

struct Program {
  std::string kernel;  ///< symbol name
  std::vector<MicroOp> ops;
  std::vector<StaticCounts> counts;             ///< of ops.size() + 1
  std::vector<InstructionRecord> instructions;  ///< by rising address
  std::vector<u32> constants;                   ///< copied behind the rows of each wave
  std::vector<std::unique_ptr<LanePermutation>> permutations;
  std::vector<MatrixOperation> matrix_operations;
  std::vector<std::string> problems;    ///< instructions that can't be executed: what and why
  std::vector<InstructionFacts> facts;  ///< of each instruction, in checked programs
  std::span<const u8> file;             ///< the code object, for its debug lines
  u32 rows = 0;                         ///< VGPRs and AGPRs
  bool may_skip = false;                ///< it may switch vector instructions off: see vector_skip.cpp
  u64 load_bias = 0;                    ///< host address minus code object address

  [[nodiscard]] u32 constants_offset() const;
  [[nodiscard]] u32 register_bytes() const;  ///< of one wave, a multiple of the row alignment
  /// The instruction that a micro-op belongs to.
  [[nodiscard]] const InstructionRecord& instruction_of(const MicroOp* op) const;
  [[nodiscard]] u32 number_of(const MicroOp* op) const {
    return static_cast<u32>(&instruction_of(op) - instructions.data());
  }
  /// "0x1a40: buffer_load_dword v0, v1, s[0:3], 0 offen  [kernels/k1/norm.cpp:41]"
  [[nodiscard]] std::string describe(u32 instruction) const;
  [[nodiscard]] std::string describe(const MicroOp* op) const { return describe(number_of(op)); }
  /// The micro-op at a code object address, or null if no decoded instruction begins there.
  [[nodiscard]] const MicroOp* at_address(u64 address) const;
};

}  // namespace monojit::emulator
