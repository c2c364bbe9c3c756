// What HIP knows about memory besides where it is.
#pragma once

#include <map>
#include <mutex>

#include "runtime/emulator/memory/allocations.h"

namespace monojit::emulator {

/// How a piece of memory was asked for.
struct MemoryOrigin {
  MemoryKind kind = MemoryKind::kCoarseGrained;
  bool host = false;
  bool managed = false;
  bool registered = false;  ///< the host program's own memory
  u32 device = 0;           ///< owner; of host and managed memory the device that was current
  u32 flags = 0;            ///< of the HIP call
};

/// A live allocation, or nothing (begin == end).
struct MemoryBlock {
  u64 begin = 0;
  u64 end = 0;
  u32 number = 0;
  bool code = false;
  bool imported = false;  ///< another process's
  MemoryOrigin origin{};

  [[nodiscard]] bool known() const { return begin != end; }
  [[nodiscard]] bool begins_at(const void* pointer) const { return known() && begin == reinterpret_cast<u64>(pointer); }
};

/// Makes and frees memory for HIP calls, and remembers its origin.
class MemoryTable {
 public:
  explicit MemoryTable(Allocations& allocations) : allocations_(allocations) {}

  /// Throws Failure (kOutOfMemory).
  void* make(u64 bytes, const MemoryOrigin& origin);
  /// Lets kernels use memory of the host program. Throws Failure (kInvalidValue) if some of it is an allocation.
  void register_host(void* pointer, u64 bytes, MemoryOrigin origin);
  /// False if nothing that was made or registered here begins there.
  bool release(void* pointer);
  /// The live allocation that `pointer` lies in.
  [[nodiscard]] MemoryBlock at(const void* pointer) const;
  /// Bytes of the device's memory that are taken.
  [[nodiscard]] u64 used(u32 device) const;

 private:
  struct Entry {
    MemoryOrigin origin;
    u64 bytes = 0;
  };

  Allocations& allocations_;
  mutable std::mutex mutex_;
  std::map<u64, Entry> entries_;  ///< by address
};

}  // namespace monojit::emulator
