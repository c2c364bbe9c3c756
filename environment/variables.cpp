#include "environment/variables.h"

#include <algorithm>
#include <cstdlib>

#include <unistd.h>

#include "environment/edit_distance.h"

namespace monojit::environment {

const char* value(Id id) {
  const char* text = std::getenv(name(id));
  return text != nullptr && *text != '\0' ? text : nullptr;
}

std::vector<std::string> unknown() {
  std::vector<std::string> names;
  for (const char* const* entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
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
  return *std::ranges::min_element(kVariables, {},
                                   [&](const Variable& each) { return edit_distance(name, each.name); });
}

}  // namespace monojit::environment
