// What the host program's threads are doing: a kernel that waits may only be given up, and time may only jump, when no
// thread can still do something about it.
#pragma once

#include <atomic>
#include <chrono>

#include "runtime/emulator/types.h"

namespace monojit::emulator {

class HostActivity {
 public:
  using Clock = std::chrono::steady_clock;

  /// A thread is inside a HIP function.
  class Call {
   public:
    Call();
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
  };
  /// Inside a HIP function it waits for work to end.
  class Wait {
   public:
    Wait();
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
  };

  /// Some thread is in a HIP function and does not wait: it may take its time, and will act.
  static bool any_calling() { return calling_ > 0; }
  /// All threads that ever called HIP, and live, wait.
  static bool all_waiting() { return waiting_ > 0 && waiting_ >= threads_; }
  /// When a thread last entered or left a HIP function.
  static Clock::time_point latest() { return Clock::time_point(Clock::duration(latest_)); }

 private:
  struct Thread {
    Thread() { ++threads_; }
    ~Thread() { --threads_; }
  };
  static void note() { latest_ = Clock::now().time_since_epoch().count(); }

  static inline std::atomic<u32> threads_{0};
  static inline std::atomic<u32> calling_{0};
  static inline std::atomic<u32> waiting_{0};
  static inline std::atomic<Clock::rep> latest_{0};
};

}  // namespace monojit::emulator
