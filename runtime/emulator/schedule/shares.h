// Numbers 0..n-1, handed out to workers: to each a stretch of its own first.
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "runtime/emulator/types.h"

namespace monojit::emulator {

class Shares {
 public:
  /// While nobody takes any.
  void split(u64 count, u64 workers) {
    if (shares_.size() != workers) shares_ = std::vector<Share>(workers);
    for (u64 i = 0; i < workers; ++i) {
      shares_[i].next = count * i / workers;
      shares_[i].end = count * (i + 1) / workers;
    }
  }
  /// The next of the worker's own; then of what others have not come to. From several threads.
  [[nodiscard]] std::optional<u64> next(u32 worker) {
    for (u64 i = 0; i < shares_.size(); ++i) {
      Share& share = shares_[(worker + i) % shares_.size()];
      if (share.next >= share.end) continue;
      if (const u64 taken = share.next++; taken < share.end) return taken;
    }
    return std::nullopt;
  }

 private:
  struct alignas(64) Share {
    std::atomic<u64> next{0};
    u64 end = 0;
  };
  std::vector<Share> shares_;
};

}  // namespace monojit::emulator
