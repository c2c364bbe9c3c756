#include "runtime/emulator/checks/checks.h"

#include <algorithm>
#include <utility>

namespace monojit::emulator {
namespace {

constexpr std::pair<std::string_view, bool Checks::*> kFields[] = {
    {"buffers", &Checks::buffers}, {"exec", &Checks::exec},   {"hazards", &Checks::hazards},
    {"memory", &Checks::memory},   {"races", &Checks::races}, {"registers", &Checks::registers},
    {"waits", &Checks::waits},
};

bool set(std::string_view name, Checks& checks) {
  bool found = false;
  for (const auto& [field_name, field] : kFields) {
    if (name != "all" && name != field_name) continue;
    checks.*field = found = true;
  }
  return found;
}

}  // namespace

bool parse_checks(std::string_view text, Checks& checks) {
  Checks parsed;
  std::size_t begin = 0;
  while (text != "none" && begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (!set(text.substr(begin, end - begin), parsed)) return false;
    begin = end + 1;
  }
  checks = parsed;
  return true;
}

}  // namespace monojit::emulator
