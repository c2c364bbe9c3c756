#include "cache/warnings.h"

#include <cstdio>
#include <mutex>
#include <unordered_set>

#include <fmt/format.h>

namespace monojit::cache {
namespace {

bool first_time(const std::string& cause) {
  static std::mutex mutex;
  static std::unordered_set<std::string> said;
  const std::lock_guard lock(mutex);
  return said.insert(cause).second;
}

}  // namespace

void Warnings::once(const std::string& cause, std::string_view text) const {
  if (!first_time(cause)) return;
  try {
    if (callback_) {
      callback_(text);
    } else {
      fmt::print(stderr, "monojit: warning: {}\n", text);
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): see the declaration
  }
}

}  // namespace monojit::cache
