#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "tools/warm/warmer.h"

namespace monojit::tools {

/// Tells how far a warm is: a bar on a terminal, else a line a kernel on stdout, and every 10 s one on stderr of what
/// is built at the moment. To be called by one thread at a time.
class WarmProgress {
 public:
  /// `quiet`: stdout is for JSON.
  WarmProgress(const WarmPlan& plan, bool quiet);
  /// Ends the bar's line.
  void finish();

  /// Something changed, or time has passed. `step`: what is done while no kernel is.
  void show(const std::vector<WarmResult>& results, const WarmCounts& counts, std::string_view step);
  /// A job's state has changed.
  void tell(std::size_t job, const WarmResult& result);
  /// A message on stderr, above the bar.
  void say_above(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;

  std::string at_work(const std::vector<WarmResult>& results, std::string_view step) const;
  void draw(const WarmCounts& counts, const std::string& at_work);

  const WarmPlan& plan_;
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_shown_ = start_;
};

}  // namespace monojit::tools
