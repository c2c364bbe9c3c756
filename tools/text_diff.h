#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace monojit::tools {

/// What becomes of a line on the way from one text to another.
struct LineEdit {
  char kind = ' ';       ///< ' ' stays, '-' only in the old text, '+' only in the new one
  std::size_t line = 0;  ///< its number in the old text, for '+' in the new one, from 0
};

std::vector<std::string_view> lines_of(std::string_view text);

/// The fewest lines that have to be taken out of `a` and put in to get `b`.
std::vector<LineEdit> diff_lines(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b);

/// As `diff -u` shows it, without the two lines of names; empty when nothing differs. The edits were made of keys of
/// the lines; `a` and `b` are what is shown.
std::string unified(const std::vector<LineEdit>& edits, const std::vector<std::string_view>& a,
                    const std::vector<std::string_view>& b, std::size_t context = 3);

}  // namespace monojit::tools
