#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

/// What the command prints: results on stdout, everything else on stderr.
namespace monojit::tools {

/// JSON whose fields keep the order in which they were set: what the user reads.
using Json = nlohmann::ordered_json;

/// One message on stderr, each line of it after "monojit: ". A stderr that can't be written loses it, and nothing else.
void say(std::string_view text) noexcept;

/// Text of the result, on stdout. What goes wrong is kept for finish_output().
void put(std::string_view text) noexcept;

/// put() of formatted text.
template <class... Values>
void print(fmt::format_string<Values...> text, Values&&... values) {
  put(fmt::format(text, std::forward<Values>(values)...));
}

/// Writes out what stdout still holds. Why the result could not be written whole; empty: it was.
std::string finish_output();

/// One JSON value on stdout, indented, with a line end.
void print_json(const Json& value);

/// Rows of cells in aligned columns. The first row heads the others.
class Table {
 public:
  enum class Align { kLeft, kRight };

  /// One alignment a column.
  explicit Table(std::vector<Align> columns) : columns_(std::move(columns)) {}

  /// As many cells as there are columns.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.size() <= 1; }
  /// Lines, each indented by `indent` blanks.
  std::string text(std::size_t indent = 0) const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace monojit::tools
