#pragma once

#include <csignal>

namespace monojit::tools {

/// As long as it lives, SIGINT and SIGTERM do not end the process, but are told; the second of them ends it. Once in a
/// process.
class Interruptible {
 public:
  /// `note`: a line for stderr, written when the first one comes; null: none. Must outlive this.
  explicit Interruptible(const char* note = nullptr);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  /// Whether one came.
  static bool interrupted();

  /// From now on, and when this is gone, they do nothing: there is nothing left to end but the report, which half of is
  /// none, and workers, whose files are removed.
  void hold_off();

 private:
  bool held_off_ = false;
  struct sigaction old_interrupt_{};
  struct sigaction old_terminate_{};
};

}  // namespace monojit::tools
