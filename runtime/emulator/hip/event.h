// Events: marks in streams.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <hip/hip_runtime_api.h>

#include "runtime/emulator/hip/operation.h"

namespace monojit::emulator {
struct Capture;

/// The event behind a handle; it stays as long as somebody has it, after hipEventDestroy too.
/// Throws HipError (hipErrorInvalidHandle) for what is no event.
[[nodiscard]] std::shared_ptr<ihipEvent_t> checked_event(hipEvent_t event);

/// Where in a capture an event was recorded.
struct CaptureMark {
  std::weak_ptr<Capture> capture;
  std::vector<hipGraphNode_t> nodes;
};
}  // namespace monojit::emulator

/// An event; the handle type that HIP's headers leave open.
struct ihipEvent_t {
 public:
  explicit ihipEvent_t(unsigned int flags) : flags_(flags) {}

  [[nodiscard]] unsigned int flags() const { return flags_; }
  void record(monojit::emulator::u32 device, monojit::emulator::TicketPtr ticket) {
    const std::lock_guard lock(mutex_);
    device_ = device;
    recorded_ = std::move(ticket);
    mark_.reset();
  }
  /// Recorded in a stream that captures: nothing happens, but work of the capture can wait for it.
  void record(monojit::emulator::CaptureMark mark) {
    const std::lock_guard lock(mutex_);
    mark_ = std::make_shared<monojit::emulator::CaptureMark>(std::move(mark));
  }
  /// The end of what was in the stream at the latest record; null if it was never recorded.
  [[nodiscard]] monojit::emulator::TicketPtr recorded() const {
    const std::lock_guard lock(mutex_);
    return recorded_;
  }
  /// Null unless the latest record was in a capture.
  [[nodiscard]] std::shared_ptr<const monojit::emulator::CaptureMark> mark() const {
    const std::lock_guard lock(mutex_);
    return mark_;
  }
  [[nodiscard]] monojit::emulator::u32 device() const {
    const std::lock_guard lock(mutex_);
    return device_;
  }

 private:
  unsigned int flags_;
  mutable std::mutex mutex_;
  monojit::emulator::u32 device_ = 0;
  monojit::emulator::TicketPtr recorded_;
  std::shared_ptr<const monojit::emulator::CaptureMark> mark_;
};
