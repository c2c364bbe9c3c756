// What a wave knows of the others: up to which of its accesses each one's are ordered before what follows.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "runtime/emulator/types.h"

namespace monojit::emulator {

/// Copies share their entries until one of them changes.
class VectorClock {
 public:
  [[nodiscard]] u32 of(u32 wave) const {
    return entries_ != nullptr && wave < entries_->size() ? (*entries_)[wave] : 0;
  }

  void raise(u32 wave, u32 time) {
    if (of(wave) >= time) return;
    std::vector<u32>& entries = own(wave + 1);
    entries[wave] = time;
  }

  void join(const VectorClock& other) {
    if (other.entries_ == nullptr || other.entries_ == entries_) return;
    if (entries_ == nullptr) {
      entries_ = other.entries_;
      return;
    }
    std::vector<u32>& entries = own(other.entries_->size());
    for (std::size_t i = 0; i < other.entries_->size(); ++i) entries[i] = std::max(entries[i], (*other.entries_)[i]);
  }

 private:
  std::vector<u32>& own(std::size_t size) {
    if (entries_ == nullptr) {
      entries_ = std::make_shared<std::vector<u32>>(size);
    } else if (entries_.use_count() > 1) {
      entries_ = std::make_shared<std::vector<u32>>(*entries_);
    }
    if (entries_->size() < size) entries_->resize(size);
    return *entries_;
  }

  std::shared_ptr<std::vector<u32>> entries_;
};

/// The same at each distance: what is ordered before is visible to waves of the same workgroup or XCD at once, further
/// away only after the cache between has been written back.
struct ScopedClocks {
  VectorClock near;    ///< workgroup and XCD
  VectorClock device;  ///< other XCDs
  VectorClock system;  ///< other devices

  void join(const ScopedClocks& other) {
    near.join(other.near);
    device.join(other.device);
    system.join(other.system);
  }
};

}  // namespace monojit::emulator
