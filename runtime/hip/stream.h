#pragma once

#include <utility>

#include "runtime/hip/device.h"

namespace monojit::runtime {

/// A stream of its own on one device; the null stream and a caller's are plain hipStream_t.
class Stream {
 public:
  explicit Stream(const Device& device) : table_(device.table()) {
    device.select();
    table_->check(table_->hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking), "hipStreamCreateWithFlags");
  }
  ~Stream() {
    if (stream_ != nullptr) (void)table_->hipStreamDestroy(stream_);
  }
  Stream(Stream&& other) noexcept : table_(std::move(other.table_)), stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&&) = delete;

  hipStream_t get() const { return stream_; }
  /// Waits for what was put on the stream; a fault of a kernel surfaces here as DeviceError.
  void synchronize() const { table_->check(table_->hipStreamSynchronize(stream_), "hipStreamSynchronize"); }

 private:
  std::shared_ptr<const HipTable> table_;
  hipStream_t stream_ = nullptr;
};

}  // namespace monojit::runtime
