// The device memory that exists: every access of a kernel is checked against it.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/emulator/types.h"

namespace monojit::emulator {

/// How the chips' caches treat a piece of memory.
enum class MemoryKind : u8 {
  kCoarseGrained,  ///< hipMalloc: caches keep it until they are told to write back or invalidate
  kFineGrained,    ///< hipExtMallocWithFlags fine-grained, hipHostMalloc coherent: no L2 keeps it
  kUncached,       ///< hipExtMallocWithFlags uncached: no L2 keeps it
};

/// What happened to an allocation, shared by all snapshots that list it.
struct AllocationHistory {
  std::atomic<bool> written{false};  ///< by any kernel that ran in a mode that looks
};

/// Bytes. Weights are larger; what small allocations hold costs little to look after.
inline constexpr u64 kSmallestSkipped = u64{64} << 10;

/// A live piece of memory that kernels may touch: [begin, end) in host addresses.
struct Allocation {
  u64 begin = 0;
  u64 end = 0;
  u32 number = 0;     ///< counts up from 1: "allocation 7"
  bool host = false;  ///< from hipHostMalloc
  bool code = false;  ///< a loaded code object
  u64 mapped_bytes = 0;
  MemoryKind kind = MemoryKind::kCoarseGrained;
  AllocationHistory* history = nullptr;  ///< lives as long as the Allocations

  [[nodiscard, gnu::always_inline]] bool holds(u64 first, u64 last) const { return first >= begin && last <= end; }
  /// Large, and no kernel has written to it yet: a memory model may let loads pass.
  [[nodiscard, gnu::always_inline]] bool skippable() const {
    return end - begin >= kSmallestSkipped && !history->written.load(std::memory_order_relaxed);
  }
};

/// The allocations at one moment, sorted by address. Kernels read one without a lock.
struct AllocationList {
  std::vector<Allocation> live;
  std::vector<Allocation> freed;  ///< the latest, for use-after-free reports

  /// The live allocation that holds all of [first, last), or null.
  [[nodiscard]] const Allocation* find(u64 first, u64 last) const;
  /// "12 bytes behind allocation 7 (0x7f.., 4096 bytes)".
  [[nodiscard]] std::string describe(u64 address) const;
};

/// Makes and frees memory. All functions may be called from several threads.
class Allocations {
 public:
  enum class Use : u8 { kDevice, kHost, kCode };

  Allocations();
  ~Allocations();
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;

  /// Zero-filled memory with an inaccessible page behind it. Throws Failure (kOutOfMemory).
  void* allocate(u64 bytes, Use use) {
    return allocate(bytes, use, use == Use::kHost ? MemoryKind::kFineGrained : MemoryKind::kCoarseGrained);
  }
  void* allocate(u64 bytes, Use use, MemoryKind kind);
  /// False if nothing live begins there.
  bool release(void* pointer);
  [[nodiscard]] std::shared_ptr<const AllocationList> snapshot() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const AllocationList> list_;
  std::deque<AllocationHistory> histories_;
  u32 next_number_ = 1;
};

}  // namespace monojit::emulator
