#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "runtime/hip/device.h"

namespace monojit::runtime {

/// Device memory. An empty buffer owns none: its address is null.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// Uninitialised memory of `bytes` on `device`.
  DeviceBuffer(const Device& device, std::size_t bytes) : table_(device.table()), bytes_(bytes) {
    if (bytes == 0) return;
    device.select();
    table_->check(table_->hipMalloc(&address_, bytes), "hipMalloc");
  }
  /// A copy of `content`.
  DeviceBuffer(const Device& device, std::span<const std::byte> content) : DeviceBuffer(device, content.size()) {
    if (bytes_ == 0) return;
    table_->check(table_->hipMemcpy(address_, content.data(), bytes_, hipMemcpyHostToDevice), "hipMemcpy");
  }
  /// Memory that no cache keeps: what other devices write while kernels of this one run.
  static DeviceBuffer uncached(const Device& device, std::size_t bytes) {
    DeviceBuffer buffer;
    buffer.table_ = device.table();
    buffer.bytes_ = bytes;
    device.select();
    buffer.table_->check(buffer.table_->hipExtMallocWithFlags(&buffer.address_, bytes, hipDeviceMallocUncached),
                         "hipExtMallocWithFlags");
    return buffer;
  }
  /// `bytes`, all 0.
  static DeviceBuffer zeroed(const Device& device, std::size_t bytes) {
    DeviceBuffer buffer(device, bytes);
    if (bytes != 0) device.hip().check(device.hip().hipMemset(buffer.address_, 0, bytes), "hipMemset");
    return buffer;
  }
  ~DeviceBuffer() {
    if (address_ != nullptr) (void)table_->hipFree(address_);
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : table_(std::move(other.table_)),
        address_(std::exchange(other.address_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(table_, other.table_);
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  void* address() const { return address_; }
  std::size_t bytes() const { return bytes_; }

  /// Fills `content`, which must be as large as the buffer, once earlier work of the null stream is done.
  void download(std::span<std::byte> content) const {
    if (bytes_ == 0) return;
    table_->check(table_->hipMemcpy(content.data(), address_, bytes_, hipMemcpyDeviceToHost), "hipMemcpy");
  }

 private:
  std::shared_ptr<const HipTable> table_;
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace monojit::runtime
