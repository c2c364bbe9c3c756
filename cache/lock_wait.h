#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "cache/deadline.h"
#include "cache/lock_holder.h"
#include "cache/warnings.h"

namespace monojit::cache {

/// How to wait for another process that builds what is wanted here.
struct WaitOptions {
  WarningCallback say = {};              ///< receives a line a time: for whom, for how long; none: nothing is said
  std::function<void()> interrupt = {};  ///< called many times a second; what it throws ends the wait
  std::chrono::milliseconds first = std::chrono::milliseconds(500);  ///< until the first line
  std::chrono::milliseconds next = std::chrono::seconds(10);         ///< from each line to the next
  /// A holder on another machine may be stopped without a way to see it: after this, in which this
  /// process was not stopped, the wait is over.
  std::chrono::milliseconds longest = std::chrono::minutes(10);
};

/// One wait for a lock that another process holds. A dead holder's lock is free; one that is stopped is waited for no
/// longer.
class LockWait {
 public:
  /// `wanted` is what the lock is for, in words.
  LockWait(const WaitOptions& options, std::filesystem::path file, std::string wanted);

  /// Pauses; false: it is not worth waiting any longer, and why was said.
  bool go_on();

 private:
  using Clock = std::chrono::steady_clock;

  void say(const std::string& text) const;
  std::string holder_text() const;

  const WaitOptions& options_;
  std::filesystem::path file_;
  std::string wanted_;
  Clock::time_point start_ = Clock::now();
  Deadline deadline_;
  Clock::time_point next_line_;
};

}  // namespace monojit::cache
