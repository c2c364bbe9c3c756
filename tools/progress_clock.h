#pragma once

#include "tools/session.h"

namespace monojit::tools {

/// When to say how far something is: every 10 s where somebody watches a terminal, else every minute.
class ProgressClock {
 public:
  ProgressClock();
  /// Whether it is time; then the next time is that much later.
  bool is_due();

 private:
  const double interval_ms_;
  double last_ms_ = 0;
  Stopwatch watch_;
};

}  // namespace monojit::tools
