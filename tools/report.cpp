#include "tools/report.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <new>
#include <ranges>
#include <system_error>

#include <fmt/format.h>

#include "cache/file.h"

namespace monojit::tools {

namespace {

int output_error = 0;  // errno of the first failure on stdout

}  // namespace

void say(std::string_view text) noexcept {
  try {
    std::string lines;
    for (const auto line : std::views::split(text, '\n')) {
      fmt::format_to(std::back_inserter(lines), "monojit: {}\n",
                     cache::printable(std::string_view(line.begin(), line.end())));
    }
    (void)std::fwrite(lines.data(), 1, lines.size(), stderr);  // in one piece: threads may speak at once
  } catch (const std::bad_alloc&) {
    (void)std::fwrite(text.data(), 1, text.size(), stderr);
  }
}

void put(std::string_view text) noexcept {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && output_error == 0) {
    output_error = errno != 0 ? errno : EIO;
  }
}

std::string finish_output() {
  errno = 0;
  if (std::fflush(stdout) != 0 && output_error == 0) output_error = errno != 0 ? errno : EIO;
  return output_error == 0 ? "" : std::generic_category().message(output_error);
}

void print_json(const Json& value) {
  // Text from outside (file names, messages) need not be UTF-8; it must not cost the answer.
  print("{}\n", value.dump(2, ' ', false, Json::error_handler_t::replace));
}

std::string Table::text(std::size_t indent) const {
  // Cells may hold text from outside, such as an entry's key: none of it may steer the terminal.
  std::vector<std::vector<std::string>> rows = rows_;
  std::vector<std::size_t> widths(columns_.size());
  for (auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = cache::printable(row[i]);
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string out;
  for (const auto& row : rows) {
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
