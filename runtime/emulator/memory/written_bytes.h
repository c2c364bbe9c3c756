// Which bytes of device memory have been written, by a kernel or by a copy: one bit each.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "runtime/emulator/types.h"

namespace monojit::emulator {

/// All functions may be called from several threads.
class WrittenBytes {
 public:
  /// Nothing of it has been written yet.
  void add(u64 begin, u64 end);
  void remove(u64 begin);
  /// Bytes [first, last) hold something now. Others than those of added ranges are left alone.
  void mark(u64 first, u64 last);
  /// The first byte of [first, last) that nobody wrote, or `last`.
  [[nodiscard]] u64 first_unwritten(u64 first, u64 last) const;

 private:
  struct Range {
    u64 end = 0;
    std::vector<u64> bits;
  };
  [[nodiscard]] const std::pair<const u64, Range>* holding(u64 address) const;

  mutable std::mutex mutex_;
  std::map<u64, Range> ranges_;
};

}  // namespace monojit::emulator
