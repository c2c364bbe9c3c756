#include "runtime/emulator/decode/instruction.h"

#include <charconv>
#include <cstdlib>

#include "runtime/emulator/execute/register_file.h"

namespace monojit::emulator {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<i64> parse_integer(std::string_view text) {
  const bool negative = take_prefix(text, "-");
  const int base = take_prefix(text, "0x") ? 16 : 10;
  u64 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return static_cast<i64>(negative ? 0 - value : value);
}

struct NamedScalar {
  std::string_view name;
  u32 word;
  u32 count;
};

constexpr NamedScalar kNamedScalars[] = {
    {"vcc", kVccWord, 2},
    {"vcc_lo", kVccWord, 1},
    {"vcc_hi", kVccWord + 1, 1},
    {"exec", kExecWord, 2},
    {"exec_lo", kExecWord, 1},
    {"exec_hi", kExecWord + 1, 1},
    {"m0", kM0Word, 1},
    {"src_scc", kSccWord, 1},
    {"scc", kSccWord, 1},
    {"flat_scratch", kFlatScratchWord, 2},
    {"flat_scratch_lo", kFlatScratchWord, 1},
    {"flat_scratch_hi", kFlatScratchWord + 1, 1},
    {"xnack_mask", kXnackMaskWord, 2},
    {"xnack_mask_lo", kXnackMaskWord, 1},
    {"xnack_mask_hi", kXnackMaskWord + 1, 1},
};

/// "5", "[4:7]", "[4]" behind v, a, s or ttmp.
bool parse_register(std::string_view text, Operand& operand) {
  const auto first_of = [](std::string_view number) { return parse_integer(number); };
  if (text.empty()) return false;
  if (text.front() != '[') {
    const auto index = first_of(text);
    if (!index || *index < 0) return false;
    operand.index = static_cast<u32>(*index);
    return true;
  }
  if (text.back() != ']') return false;
  text = text.substr(1, text.size() - 2);
  const std::size_t colon = text.find(':');
  const auto first = first_of(text.substr(0, colon));
  const auto last = colon == std::string_view::npos ? first : first_of(text.substr(colon + 1));
  if (!first || !last || *first < 0 || *last < *first) return false;
  operand.index = static_cast<u32>(*first);
  operand.count = static_cast<u32>(*last - *first + 1);
  return true;
}

bool parse_named(std::string_view text, Operand& operand) {
  for (const NamedScalar& named : kNamedScalars) {
    if (text != named.name) continue;
    operand.kind = Operand::Kind::kScalar;
    operand.index = named.word;
    operand.count = named.count;
    return true;
  }
  using Kind = Operand::Kind;
  for (const auto& [prefix, kind] :
       {std::pair{"ttmp", Kind::kScalar}, {"v", Kind::kVgpr}, {"a", Kind::kAgpr}, {"s", Kind::kScalar}}) {
    std::string_view rest = text;
    if (!take_prefix(rest, prefix) || !parse_register(rest, operand)) continue;
    operand.kind = kind;
    if (std::string_view(prefix) == "ttmp") operand.index += kTtmpWord;
    return true;
  }
  return false;
}

bool parse_number(std::string_view text, Operand& operand) {
  if (const auto value = parse_integer(text)) {
    operand.integer = *value;
    // The disassembler prints literals in hexadecimal and inline integers in decimal.
    operand.kind = text.starts_with("0x") ? Operand::Kind::kLiteral : Operand::Kind::kInteger;
    return true;
  }
  const std::string copy(text);
  char* end = nullptr;
  operand.real = std::strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size() || copy.empty()) return false;
  operand.kind = Operand::Kind::kFloat;
  return true;
}

Operand parse_operand(std::string_view text) {
  Operand operand;
  operand.text = text;
  if (text == "off") {
    operand.kind = Operand::Kind::kOff;
    return operand;
  }
  // A literal whose value an inline constant has too: printed as lit(...).
  if (take_prefix(text, "lit(")) take_suffix(text, ")");
  if (parse_number(text, operand)) return operand;
  if (text.starts_with('-')) operand.negate = true, text.remove_prefix(1);
  for (const auto& [open, close, what] : {std::tuple{"neg(", ")", &Operand::negate},
                                          {"abs(", ")", &Operand::absolute},
                                          {"sext(", ")", &Operand::sign_extend},
                                          {"|", "|", &Operand::absolute}}) {
    std::string_view inner = text;
    if (take_prefix(inner, open) && take_suffix(inner, close)) operand.*what = true, text = inner;
  }
  operand.text = text;
  if (!parse_named(text, operand)) parse_number(text, operand);
  return operand;
}

/// The pieces of a text between separators that stand outside brackets.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (c != separator || depth != 0) continue;
    if (i > begin) pieces.push_back(trim(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (begin < text.size()) pieces.push_back(trim(text.substr(begin)));
  return pieces;
}

}  // namespace

void parse_instruction_text(Instruction& instruction) {
  const std::string_view text = trim(instruction.text);
  const std::size_t space = text.find(' ');
  instruction.mnemonic = text.substr(0, space);
  instruction.dpp = take_suffix(instruction.mnemonic, "_dpp");
  instruction.sdwa = take_suffix(instruction.mnemonic, "_sdwa");
  if (!take_suffix(instruction.mnemonic, "_e32")) take_suffix(instruction.mnemonic, "_e64");
  instruction.operands.clear();
  instruction.modifiers.clear();
  if (space == std::string_view::npos) return;
  const auto pieces = split(text.substr(space + 1), ',');
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i + 1 < pieces.size()) {
      instruction.operands.push_back(parse_operand(pieces[i]));
      continue;
    }
    // Behind the last operand stand the modifiers, with spaces between them.
    const auto words = split(pieces[i], ' ');
    for (std::size_t k = 0; k < words.size(); ++k) {
      if (k == 0) {
        instruction.operands.push_back(parse_operand(words[k]));
      } else {
        instruction.modifiers.push_back(words[k]);
      }
    }
  }
}

bool Instruction::has(std::string_view flag) const {
  for (const std::string_view modifier : modifiers) {
    if (modifier == flag) return true;
  }
  return false;
}

std::optional<std::string_view> Instruction::value_of(std::string_view name) const {
  for (const std::string_view modifier : modifiers) {
    if (modifier.size() > name.size() && modifier.starts_with(name) && modifier[name.size()] == ':') {
      return modifier.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

i64 Instruction::number_of(std::string_view name, i64 otherwise) const {
  const auto value = value_of(name);
  return value ? parse_integer(*value).value_or(otherwise) : otherwise;
}

std::optional<ModifierList> Instruction::list_of(std::string_view name) const {
  const auto value = value_of(name);
  if (!value || value->size() < 2 || value->front() != '[') return std::nullopt;
  ModifierList list;
  for (const std::string_view piece : split(value->substr(1, value->size() - 2), ',')) {
    if (list.count < list.values.size()) list.values[list.count++] = static_cast<u8>(parse_integer(piece).value_or(0));
  }
  return list;
}

}  // namespace monojit::emulator
