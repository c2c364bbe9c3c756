// Results that are still on their way: reading or overwriting one before its wait counter says that it has come is what
// a chip gets wrong without a word.
//
// vmcnt counts vector memory in the order of issue; lgkmcnt LDS likewise, and scalar loads, which return in any order,
// so that with one of them outstanding only lgkmcnt(0) tells anything. FLAT counts in both.
#pragma once

#include <optional>
#include <string>

#include "runtime/emulator/checks/instruction_facts.h"
#include "runtime/emulator/checks/register_map.h"

namespace monojit::emulator {

class PendingResults {
 public:
  PendingResults(u32 vgprs, u32 agprs) : marks_(vgprs, agprs) {}

  /// What is wrong with executing the instruction now, if anything; else counts it. `number` is its place in the
  /// program; a complaint names the place of the other one.
  struct Complaint {
    std::string text;
    u32 other;
  };
  std::optional<Complaint> issue(const InstructionFacts& facts, u32 number);

 private:
  struct Mark {
    u64 vector = 0;  ///< arrives when this many vector memory operations are done
    u64 local = 0;   ///< and this many LDS and scalar ones
    u32 number = 0;  ///< of the instruction that loads it
    bool scalar = false;
  };

  [[nodiscard]] bool pending(const Mark& mark) const { return mark.vector > vector_done_ || mark.local > local_done_; }
  void wait(WaitCounts waits);
  void count(const InstructionFacts& facts, u32 number);

  RegisterMap<Mark> marks_;
  u64 vector_issued_ = 0, vector_done_ = 0;
  u64 local_issued_ = 0, local_done_ = 0;
  u64 last_scalar_ = 0;  ///< local_issued_ after the latest scalar load
};

}  // namespace monojit::emulator
