#pragma once

#include <algorithm>
#include <chrono>

namespace monojit::cache {

/// A limit on the time that this process has had: what passes while it is stopped does not count. For loops that look
/// again and again, many times a second. For one thread at a time.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  /// Between two looks, more than this was a stop.
  static constexpr std::chrono::milliseconds kMostBetweenLooks{1000};

  explicit Deadline(Clock::duration limit) : left_(limit) {}

  /// What is left of the limit; 0 or less: it is over.
  Clock::duration left() {
    const auto now = Clock::now();
    left_ -= std::min<Clock::duration>(now - last_look_, kMostBetweenLooks);
    last_look_ = now;
    return left_;
  }
  bool over() { return left() <= Clock::duration::zero(); }

 private:
  Clock::duration left_;
  Clock::time_point last_look_ = Clock::now();
};

}  // namespace monojit::cache
