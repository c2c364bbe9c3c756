#include "tools/report.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <ranges>

#include <fmt/format.h>

namespace monojit::tools {

void say(std::string_view text) {
  std::string lines;
  for (const auto line : std::views::split(text, '\n')) {
    fmt::format_to(std::back_inserter(lines), "monojit: {}\n", std::string_view(line.begin(), line.end()));
  }
  fmt::print(stderr, "{}", lines);  // in one piece: threads may speak at once
}

void print_json(const Json& value) {
  // Text from outside (file names, messages) need not be UTF-8; it must not cost the answer.
  fmt::print("{}\n", value.dump(2, ' ', false, Json::error_handler_t::replace));
}

std::string Table::text(std::size_t indent) const {
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      const char* gap = i == 0 ? "" : "  ";
      if (columns_[i] == Align::kRight) {
        fmt::format_to(std::back_inserter(line), "{}{:>{}}", gap, row[i], widths[i]);
      } else {
        fmt::format_to(std::back_inserter(line), "{}{:<{}}", gap, row[i], widths[i]);
      }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

}  // namespace monojit::tools
