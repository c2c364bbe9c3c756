#include <random>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tools/text_diff.h"

namespace monojit::tools {
namespace {

std::string between(std::string_view a, std::string_view b, std::size_t context = 1) {
  const auto old_lines = lines_of(a);
  const auto new_lines = lines_of(b);
  return unified(diff_lines(old_lines, new_lines), old_lines, new_lines, context);
}

/// The length of the longest common subsequence, by its definition.
std::size_t common_length(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  std::vector<std::vector<std::size_t>> best(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      best[i + 1][j + 1] = a[i] == b[j] ? best[i][j] + 1 : std::max(best[i][j + 1], best[i + 1][j]);
    }
  }
  return best[a.size()][b.size()];
}

TEST_CASE("Equal texts have no difference") {
  CHECK(between("a\nb\n", "a\nb\n").empty());
  CHECK(between("", "").empty());
}

TEST_CASE("Lines that were changed, added or removed stand in hunks with their surroundings") {
  CHECK(between("a\nb\nc\nd\ne\nf\ng\n", "a\nb\nX\nd\ne\nf\ng\nh\n") ==
        "@@ -2,3 +2,3 @@\n b\n-c\n+X\n d\n@@ -7,1 +7,2 @@\n g\n+h\n");
  CHECK(between("a\nb\nc\n", "b\nc\n") == "@@ -1,2 +1,1 @@\n-a\n b\n");
  CHECK(between("a\nb\nc\nd\n", "X\nb\nc\nY\n") == "@@ -1,4 +1,4 @@\n-a\n+X\n b\n c\n-d\n+Y\n");
}

TEST_CASE("The edits lead from one text to the other, and are as few as can be") {
  constexpr unsigned kSeed = 11;
  constexpr int kRounds = 300;
  constexpr int kMostLines = 24;
  const std::vector<std::string> words = {"a", "b", "c", "d"};
  std::mt19937 random(kSeed);
  const auto text = [&] {
    std::vector<std::string_view> lines(random() % kMostLines);
    for (std::string_view& line : lines) line = words[random() % words.size()];
    return lines;
  };
  for (int round = 0; round < kRounds; ++round) {
    const auto a = text();
    const auto b = text();
    std::vector<std::string_view> from;
    std::vector<std::string_view> to;
    std::size_t kept = 0;
    for (const LineEdit& edit : diff_lines(a, b)) {
      if (edit.kind != '+') from.push_back(a[edit.line]);
      if (edit.kind != '-') to.push_back(edit.kind == '+' ? b[edit.line] : a[edit.line]);
      kept += edit.kind == ' ' ? 1 : 0;
    }
    CHECK(from == a);
    CHECK(to == b);
    CHECK(kept == common_length(a, b));
  }
}

}  // namespace
}  // namespace monojit::tools
