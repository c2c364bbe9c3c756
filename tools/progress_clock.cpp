#include "tools/progress_clock.h"

#include <unistd.h>

namespace monojit::tools {
namespace {

constexpr double kWatchedMs = 10'000;
constexpr double kLoggedMs = 60'000;

}  // namespace

ProgressClock::ProgressClock() : interval_ms_(isatty(STDERR_FILENO) == 1 ? kWatchedMs : kLoggedMs) {}

bool ProgressClock::is_due() {
  if (watch_.ms() - last_ms_ < interval_ms_) return false;
  last_ms_ = watch_.ms();
  return true;
}

}  // namespace monojit::tools
