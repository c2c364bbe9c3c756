// Work that streams hand to the engine.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "runtime/emulator/schedule/launch.h"

namespace monojit::emulator {

struct QueuedWork;

/// The end of a piece of work: what streams, events and the host wait for.
class Ticket {
 public:
  [[nodiscard]] bool done() const { return done_.load(std::memory_order_acquire); }
  /// When the work ended, in seconds of the host's steady clock; 0 before.
  [[nodiscard]] double seconds() const { return done() ? seconds_ : 0; }

 private:
  friend class Engine;
  std::atomic<bool> done_{false};
  double seconds_ = 0;
  std::uint64_t number_ = 0;                             ///< of the work, in the order of submission
  std::vector<std::shared_ptr<QueuedWork>> dependents_;  ///< what waits for it; the engine's lock guards them
};
using TicketPtr = std::shared_ptr<Ticket>;

/// The host program's own function (hipLaunchHostFunc): it runs on a thread of its own, because it may wait.
struct HostCall {
  std::function<void()> call;
};

/// One piece of work. It begins when everything in `after` has ended. Copyable, so that a graph can submit it again.
struct Operation {
  u32 device = 0;
  /// Nothing (a marker), a kernel, a copy or fill (which never waits), or host code.
  std::variant<std::monostate, LaunchRequest, std::function<void()>, HostCall> work{};
  std::vector<TicketPtr> after{};
};

}  // namespace monojit::emulator
