#include "kernels/common/key_parser.h"

#include <string>

#include <fmt/format.h>

#include "kernels/common/error.h"

namespace monojit::kernels {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '+' || c == '-';
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) { skip_blanks(); }

  bool at_end() const { return position_ == text_.size(); }

  bool accept(char c) {
    if (at_end() || text_[position_] != c) return false;
    ++position_;
    skip_blanks();
    return true;
  }

  std::string_view word(std::string_view expected) {
    const std::size_t start = position_;
    while (!at_end() && is_word(text_[position_])) ++position_;
    if (position_ == start) fail(expected);
    const std::string_view found = text_.substr(start, position_ - start);
    skip_blanks();
    return found;
  }

  [[noreturn]] void fail(std::string_view expected) const {
    const std::string found = at_end() ? "the end" : fmt::format("'{}'", text_.substr(position_, 1));
    throw UserError(
        fmt::format("malformed build key '{}': at character {} stands {} instead of {}; write it as "
                    "FAMILY{{field=value,...}}",
                    text_, position_ + 1, found, expected));
  }

 private:
  void skip_blanks() {
    while (!at_end() && is_blank(text_[position_])) ++position_;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

/// What follows the kernel's name: `read_value` is called behind each `name =`.
template <class ReadValue>
void scan_fields(Scanner& scanner, const ReadValue& read_value) {
  if (scanner.at_end()) return;
  if (!scanner.accept('{')) scanner.fail("'{'");
  if (!scanner.accept('}')) {
    while (true) {
      const std::string_view name = scanner.word("a field's name");
      if (!scanner.accept('=')) scanner.fail("'='");
      read_value(name);
      if (scanner.accept('}')) break;
      if (!scanner.accept(',')) scanner.fail("',' or '}'");
    }
  }
  if (!scanner.at_end()) scanner.fail("the end");
}

}  // namespace

KeyText take_apart(std::string_view text) {
  Scanner scanner(text);
  KeyText key{scanner.word("a kernel's name"), {}};
  scan_fields(scanner, [&](std::string_view name) { key.fields.emplace_back(name, scanner.word("a value")); });
  return key;
}

PatternText take_pattern_apart(std::string_view text) {
  Scanner scanner(text);
  PatternText pattern{scanner.word("a kernel's name"), {}};
  scan_fields(scanner, [&](std::string_view name) {
    std::vector<std::string_view>& values = pattern.fields.emplace_back(name, std::vector<std::string_view>()).second;
    if (scanner.accept('*')) {
      values.push_back(kEveryValue);
      return;
    }
    do values.push_back(scanner.word("a value or '*'"));
    while (scanner.accept('|'));
  });
  return pattern;
}

}  // namespace monojit::kernels
