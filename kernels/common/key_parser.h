#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace monojit::kernels {

/// A build key's text taken apart; names and values are not checked yet. Views into the text.
struct KeyText {
  std::string_view family;
  std::vector<std::pair<std::string_view, std::string_view>> fields;  ///< in the order of the text
};

/// Grammar: `key = family [ "{" [ field { "," field } ] "}" ]`, `field = name "=" value`, with blanks allowed around
/// every token; a word is a run of letters, digits, `_ . + -`. Throws UserError saying where the text stops being a
/// key.
KeyText take_apart(std::string_view text);

inline constexpr std::string_view kEveryValue = "*";

/// A pattern of keys taken apart: each field has a list of values, `*` or a word.
struct PatternText {
  std::string_view family;
  std::vector<std::pair<std::string_view, std::vector<std::string_view>>> fields;
};

/// As take_apart(), of kernels/common/key_pattern.h's grammar.
PatternText take_pattern_apart(std::string_view text);

}  // namespace monojit::kernels
