// Registers that were never written hold what the wave before left there. They may be computed with (compilers do,
// where a result is not used); what must not depend on them is an address, a stored value, or a scalar that memory is
// found by.
#pragma once

#include <optional>
#include <string>

#include "runtime/emulator/checks/instruction_facts.h"
#include "runtime/emulator/checks/register_map.h"

namespace monojit::emulator {

class DefinedRegisters {
 public:
  DefinedRegisters(u32 vgprs, u32 agprs) : lanes_(vgprs, agprs) {}

  /// A register that a wave starts with.
  void define(RegisterUse::File file, u32 number) { lanes_.at(file, number) = ~u64{0}; }
  /// What is wrong with executing the instruction under this EXEC, if anything; else follows its results.
  std::optional<std::string> issue(const InstructionFacts& facts, u64 exec);

 private:
  [[nodiscard]] u64 defined_lanes(const RegisterUse& use);
  /// Of a result's word: lanes in which it depends on defined registers only.
  [[nodiscard]] u64 result_lanes(const InstructionFacts& facts, u32 word);

  RegisterMap<u64> lanes_;  ///< of a scalar register: all or none
};

}  // namespace monojit::emulator
