#pragma once

#include <csignal>

namespace monojit::tools {

/// As long as it lives, SIGINT and SIGTERM do not end the process, but are told; the second of them ends it. One at a
/// time.
class Interruptible {
 public:
  /// `note`: a line for stderr, written when the first one comes; null: none. Must outlive this.
  explicit Interruptible(const char* note = nullptr);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  /// Whether one came.
  static bool interrupted();

  /// From now on they do nothing: there is nothing left to end but the report, which half of is none.
  void hold_off() const;

 private:
  struct sigaction old_interrupt_{};
  struct sigaction old_terminate_{};
};

}  // namespace monojit::tools
