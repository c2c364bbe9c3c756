// Dependences around MFMAs that the chips leave to software: so many wait states (instructions, or s_nop's count) must
// lie between the two. LLVM inserts them; assembly by hand may lack them. The figures are those of LLVM's hazard
// recogniser for gfx942 and gfx950.
#pragma once

#include <optional>
#include <string>

#include "runtime/emulator/checks/instruction_facts.h"
#include "runtime/emulator/checks/register_map.h"
#include "runtime/emulator/chip.h"

namespace monojit::emulator {

class MatrixHazards {
 public:
  MatrixHazards(Chip chip, u32 vgprs, u32 agprs) : gfx950_(chip == Chip::kGfx950), events_(vgprs, agprs) {}

  struct Complaint {
    std::string text;
    u32 other;  ///< place of the earlier instruction
  };
  /// What is wrong with issuing the instruction now, if anything; else notes it.
  std::optional<Complaint> issue(const InstructionFacts& facts, u32 number);

 private:
  /// When something happened to a register; `at` counts wait states from 1, 0 is never.
  struct Event {
    u64 at = 0;
    u32 number = 0;
    RegisterUse whole{};  ///< the operand that the register was part of
    MatrixFacts matrix{};
  };
  struct Events {
    Event matrix_write;
    Event matrix_addend;  ///< read as C by an XDL MFMA
    Event vector_write;
  };

  [[nodiscard]] u32 needed_by_matrix(const Event& write, const InstructionFacts& facts, const RegisterUse& use) const;
  [[nodiscard]] u32 needed_by_vector(const Event& write, const InstructionFacts& facts, bool written) const;
  std::optional<Complaint> look(const Event& event, u32 needed, const RegisterUse& use, u32 reg,
                                const char* what) const;
  std::optional<Complaint> check(const InstructionFacts& facts, const RegisterUse& use, u32 reg);
  void note(const InstructionFacts& facts, u32 number);

  bool gfx950_;
  u64 now_ = 1;
  Event exec_write_;  ///< of EXEC by a vector instruction
  RegisterMap<Events> events_;
};

}  // namespace monojit::emulator
