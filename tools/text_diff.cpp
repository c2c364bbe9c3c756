#include "tools/text_diff.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <ranges>
#include <unordered_map>

#include <fmt/format.h>

namespace monojit::tools {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// A pair of equal lines, and the one before it in the longest common sequence that ends here.
struct Match {
  std::size_t a;
  std::size_t b;
  std::size_t before;
};

/// Hunt and Szymanski: the longest sequence of equal lines that rises in both texts.
std::vector<Match> common_lines(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  std::unordered_map<std::string_view, std::vector<std::size_t>> places;  // in b, falling
  for (std::size_t j = b.size(); j-- > 0;) places[b[j]].push_back(j);
  std::vector<Match> matches;
  std::vector<std::size_t> last;  // of each length: the match whose line in b is least
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto found = places.find(a[i]);
    if (found == places.end()) continue;
    for (const std::size_t j : found->second) {
      const auto at = std::ranges::lower_bound(last, j, {}, [&](std::size_t match) { return matches[match].b; });
      if (at != last.end() && matches[*at].b == j) continue;
      matches.push_back({i, j, at == last.begin() ? kNone : *std::prev(at)});
      if (at == last.end()) {
        last.push_back(matches.size() - 1);
      } else {
        *at = matches.size() - 1;
      }
    }
  }
  std::vector<Match> common;
  for (std::size_t match = last.empty() ? kNone : last.back(); match != kNone; match = matches[match].before) {
    common.push_back(matches[match]);
  }
  std::ranges::reverse(common);
  return common;
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<std::string_view> lines;
  for (const auto line : std::views::split(text, '\n')) lines.emplace_back(line.begin(), line.end());
  return lines;
}

std::vector<LineEdit> diff_lines(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  std::vector<Match> common = common_lines(a, b);
  common.push_back({a.size(), b.size(), kNone});
  std::vector<LineEdit> edits;
  std::size_t i = 0;
  std::size_t j = 0;
  for (const Match& match : common) {
    while (i < match.a) edits.push_back({'-', i++});
    while (j < match.b) edits.push_back({'+', j++});
    if (i < a.size()) edits.push_back({' ', i++});
    ++j;
  }
  return edits;
}

std::string unified(const std::vector<LineEdit>& edits, const std::vector<std::string_view>& a,
                    const std::vector<std::string_view>& b, std::size_t context) {
  std::string text;
  std::size_t old_line = 1;
  std::size_t new_line = 1;
  const auto differs = [&](std::size_t at) { return edits[at].kind != ' '; };
  const auto differs_soon = [&](std::size_t at) {
    const std::size_t end = std::min(at + context + 1, edits.size());
    return std::ranges::any_of(std::views::iota(at, end), differs);
  };
  for (std::size_t at = 0; at < edits.size();) {
    if (!differs_soon(at)) {
      ++at, ++old_line, ++new_line;
      continue;
    }
    std::string hunk;
    std::size_t counts[2] = {0, 0};
    const std::size_t starts[2] = {old_line, new_line};
    for (std::size_t quiet = 0; at < edits.size(); ++at) {
      quiet = differs(at) ? 0 : quiet + 1;
      if (quiet > context && !differs_soon(at)) break;
      const LineEdit& edit = edits[at];
      hunk += fmt::format("{}{}\n", edit.kind, edit.kind == '+' ? b[edit.line] : a[edit.line]);
      if (edit.kind != '+') ++counts[0], ++old_line;
      if (edit.kind != '-') ++counts[1], ++new_line;
    }
    text += fmt::format("@@ -{},{} +{},{} @@\n{}", starts[0], counts[0], starts[1], counts[1], hunk);
  }
  return text;
}

}  // namespace monojit::tools
