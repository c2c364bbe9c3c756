// Events: marks in streams.
#pragma once

#include <mutex>

#include <hip/hip_runtime_api.h>

#include "runtime/emulator/hip/operation.h"

/// An event; the handle type that HIP's headers leave open.
struct ihipEvent_t {
 public:
  explicit ihipEvent_t(unsigned int flags) : flags_(flags) {}

  [[nodiscard]] unsigned int flags() const { return flags_; }
  void record(monojit::emulator::u32 device, monojit::emulator::TicketPtr ticket) {
    const std::lock_guard lock(mutex_);
    device_ = device;
    recorded_ = std::move(ticket);
  }
  /// The end of what was in the stream at the latest record; null if it was never recorded.
  [[nodiscard]] monojit::emulator::TicketPtr recorded() const {
    const std::lock_guard lock(mutex_);
    return recorded_;
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
};
