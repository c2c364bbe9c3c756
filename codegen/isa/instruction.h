#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/object/debug_lines.h"

namespace monojit::codegen {

struct Instruction {
  std::uint64_t address = 0;
  std::uint32_t size = 0;  ///< bytes
  std::string mnemonic;
  std::string operands;                 ///< as the assembler writes them: "v[0:3], s2, 0 offen"
  std::optional<std::uint64_t> target;  ///< address that a branch goes to
  SourceLine line;
};

/// The operands one by one, without blanks.
std::vector<std::string_view> operand_list(const Instruction& instruction);

enum class InstructionClass : std::uint8_t {
  kMfma,
  kValu,
  kLaneMove,  ///< between vector lanes and scalar registers
  kSalu,
  kScalarMemory,
  kBranch,
  kWait,     ///< s_waitcnt, s_nop, s_sleep
  kBarrier,  ///< s_barrier
  kLds,
  kVectorLoad,
  kVectorStore,
  kAtomic,
  kCacheControl,  ///< buffer_inv, buffer_wbl2 and their like
  kOther,
};
inline constexpr std::size_t kInstructionClasses = static_cast<std::size_t>(InstructionClass::kOther) + 1;

std::string_view name_of(InstructionClass instruction_class);
InstructionClass classify(std::string_view mnemonic);

}  // namespace monojit::codegen
