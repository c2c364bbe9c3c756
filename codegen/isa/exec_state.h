#pragma once

#include <cstdint>
#include <map>

#include "codegen/isa/instruction.h"

namespace monojit::codegen {

/// What is known of EXEC before an instruction. LLVM narrows EXEC on the way into a divergent region and, at its end,
/// ORs in a scalar register pair that it saved or collected; regions nest. So the state is how deep the nesting is (0:
/// every lane is active) and to which depth each register pair would lead back.
class ExecState {
 public:
  static constexpr int kFull = 0;
  static constexpr int kUnknown = 1000;  ///< perhaps every lane, perhaps not

  int depth() const { return depth_; }
  /// Address of the instruction that made `depth` what it is.
  std::uint64_t changed_at() const { return changed_at_; }

  /// Goes over one instruction.
  void step(const Instruction& instruction);
  /// Takes in what another way to the same place knows. Returns whether that changed anything.
  bool join(const ExecState& other);

 private:
  void write_exec(const Instruction& instruction);
  void save_exec(const Instruction& instruction);
  void write_scalar(const Instruction& instruction);
  void set_depth(int depth, const Instruction& instruction);
  /// The depth that ORing the register pair `operand` into EXEC leads back to; kUnknown when it was not followed.
  int saved(std::string_view operand) const;
  void save(std::string_view operand, int depth);
  void save(int place, int depth);

  int depth_ = kFull;
  std::uint64_t changed_at_ = 0;
  std::map<int, int> saved_;  ///< of halves: by the number of the scalar register, or by vector register and lane
};

}  // namespace monojit::codegen
