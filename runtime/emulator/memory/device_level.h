// Where the L2s of one device meet: what its waves share at device scope, and other devices and the host need not see.
#pragma once

#include <mutex>

#include "runtime/emulator/memory/cache.h"
#include "runtime/emulator/memory/freedom.h"
#include "runtime/emulator/memory/memory_request.h"
#include "runtime/emulator/memory/random.h"

namespace monojit::emulator {

/// Device-scope accesses end here, system-scope ones pass. A device that is alone has nothing to keep from others: then
/// everything passes. Functions may be called from several threads.
class DeviceLevel {
 public:
  explicit DeviceLevel(LineVersions& versions);

  /// Whether others can reach the same memory. While no access is under way; what is here is written back.
  void set_shared(bool shared);
  /// For several functions in a row: each takes it for itself too, which costs nothing then.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> lock() {
    return shared_ ? std::unique_lock(mutex_) : std::unique_lock<std::recursive_mutex>();
  }

  // For the L2s: what they fetch and write back.
  /// A whole line, afresh from memory if `refetch`.
  void read_line(const Spot& spot, bool refetch, u8* result);
  /// The bytes of a line that `mask` names.
  void write_line(const Spot& spot, const LineData& data, ByteMask mask);

  // Accesses that pass the L2s.
  /// Where the line of a load stands: in memory, or brought to `buffer`.
  [[nodiscard]] const u8* find_line(const Spot& spot, CachePolicy policy, const Freedom& freedom, Random& random,
                                    LineData& buffer);
  /// The bytes of the line that `mask` names.
  void store(const Spot& spot, const LineData& data, ByteMask mask, CachePolicy policy, const Freedom& freedom,
             Random& random);
  /// Makes memory the only place of a line as far as this level is concerned.
  void pass_to_memory(const Spot& spot);

  bool write_back();  ///< whether there was anything
  void invalidate();

 private:
  bool shared_ = false;
  std::recursive_mutex mutex_;
  WriteBackCache cache_;
};

}  // namespace monojit::emulator
