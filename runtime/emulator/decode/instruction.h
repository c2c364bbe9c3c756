// One machine instruction, read from the disassembler's text. The text is the public, documented form of an
// instruction: it names operands and modifiers, where LLVM's own operand lists are internal and differ from format to
// format.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/emulator/types.h"

namespace monojit::emulator {

struct Operand {
  enum class Kind : u8 { kVgpr, kAgpr, kScalar, kInteger, kFloat, kLiteral, kOff, kOther };

  Kind kind = Kind::kOther;
  u32 index = 0;    ///< register number, or word in the scalar file
  u32 count = 1;    ///< registers
  i64 integer = 0;  ///< inline constant, literal bits, or plain number
  double real = 0;  ///< inline float constant
  bool negate = false;
  bool absolute = false;
  bool sign_extend = false;
  std::string_view text;

  [[nodiscard]] bool is_row() const { return kind == Kind::kVgpr || kind == Kind::kAgpr; }
};

/// A modifier that gives one value for each operand: op_sel:[0,1,0].
struct ModifierList {
  std::array<u8, 4> values{};
  u32 count = 0;
  [[nodiscard]] u32 bits() const {
    u32 result = 0;
    for (u32 i = 0; i < count; ++i) result |= static_cast<u32>(values[i] & 1) << i;
    return result;
  }
};

struct Instruction {
  u64 address = 0;
  u32 bytes = 0;
  u64 encoding = 0;           ///< its first 8 bytes
  std::string text;           ///< whole
  std::string_view mnemonic;  ///< without _e32, _e64, _dpp, _sdwa
  bool dpp = false;
  bool sdwa = false;
  std::vector<Operand> operands;
  std::vector<std::string_view> modifiers;  ///< "offen", "offset:16", "op_sel:[0,1]"

  [[nodiscard]] bool has(std::string_view flag) const;
  /// The text behind "name:", if the modifier is there.
  [[nodiscard]] std::optional<std::string_view> value_of(std::string_view name) const;
  [[nodiscard]] i64 number_of(std::string_view name, i64 otherwise) const;
  [[nodiscard]] std::optional<ModifierList> list_of(std::string_view name) const;
  [[nodiscard]] u32 simm16() const { return static_cast<u32>(encoding & 0xffff); }
};

/// Fills mnemonic, operands and modifiers from `text`, which must stay where it is.
void parse_instruction_text(Instruction& instruction);

}  // namespace monojit::emulator
