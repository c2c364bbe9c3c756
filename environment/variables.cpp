#include "environment/variables.h"

#include <cstdlib>
#include <numeric>

#include <unistd.h>

namespace monojit::environment {
namespace {

/// Letters to be put in, taken out or changed on the way from one word to the other.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

const char* value(Id id) {
  const char* text = std::getenv(name(id));
  return text != nullptr && *text != '\0' ? text : nullptr;
}

std::vector<std::string> unknown() {
  std::vector<std::string> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view candidate = text.substr(0, text.find('='));
    if (!candidate.starts_with(kPrefix)) continue;
    if (std::ranges::none_of(kVariables, [&](const Variable& each) { return each.name == candidate; })) {
      names.emplace_back(candidate);
    }
  }
  std::ranges::sort(names);
  return names;
}

const Variable& nearest(std::string_view name) {
  return *std::ranges::min_element(kVariables, {}, [&](const Variable& each) { return distance(name, each.name); });
}

}  // namespace monojit::environment
