// The device memory that exists: every access of a kernel is checked against it.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/emulator/memory/written_bytes.h"
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
  u32 number = 0;          ///< counts up from 1: "allocation 7"
  bool host = false;       ///< from hipHostMalloc or hipHostRegister
  bool code = false;       ///< a loaded code object
  bool arguments = false;  ///< what launches hand to their kernels; the host's too
  u64 mapped_bytes = 0;    ///< 0: the host program's own memory
  MemoryKind kind = MemoryKind::kCoarseGrained;
  u32 device = 0;                        ///< owner, unless it is the host's
  bool imported = false;                 ///< another process's, mapped here
  AllocationHistory* history = nullptr;  ///< lives as long as the Allocations

  [[nodiscard]] bool adopted() const { return mapped_bytes == 0; }
  /// False for ranges that wrap around the end of the address space.
  [[nodiscard, gnu::always_inline]] bool holds(u64 first, u64 last) const {
    return first >= begin && last - begin <= end - begin;
  }
  /// Large, and no kernel has written to it yet: a memory model may let loads pass.
  [[nodiscard, gnu::always_inline]] bool skippable() const {
    return end - begin >= kSmallestSkipped && !history->written.load(std::memory_order_relaxed);
  }
};

/// Sizes of what no memory is large enough for count as the largest number.
[[nodiscard]] inline u64 product_of(u64 a, u64 b) {
  u64 product = 0;
  return __builtin_mul_overflow(a, b, &product) ? ~u64{0} : product;
}
[[nodiscard]] inline u64 sum_of(u64 a, u64 b) {
  u64 sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? ~u64{0} : sum;
}

/// The allocations at one moment, sorted by address. Kernels read one without a lock.
struct AllocationList {
  std::vector<Allocation> live;
  std::vector<Allocation> freed;  ///< the latest: inaccessible, and no other memory is in their place (but host memory)

  std::vector<u32> peers;  ///< by device: a bit for each device whose memory it may touch

  /// Kernels of the device may touch the memory: it is its own, no device's, or that of a peer with access enabled.
  [[nodiscard]] bool accessible(const Allocation& memory, u32 device) const;
  /// The live allocation that holds all of [first, last), or null.
  [[nodiscard]] const Allocation* find(u64 first, u64 last) const;
  /// The first address of [first, last) that nobody may touch: freed memory, or what lies behind an allocation in its
  /// pages. 0: there is none.
  [[nodiscard]] u64 first_forbidden(u64 first, u64 last) const;
  /// "12 bytes behind allocation 7 (0x7f.., 4096 bytes)".
  [[nodiscard]] std::string describe(u64 address) const;
};

/// Makes and frees memory. All functions may be called from several threads.
class Allocations {
 public:
  enum class Use : u8 { kDevice, kHost, kCode, kArguments };

  Allocations();
  ~Allocations();
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;

  /// Zero-filled memory with an inaccessible page behind it. Throws Failure (kOutOfMemory).
  void* allocate(u64 bytes, Use use) {
    const bool host = use == Use::kHost || use == Use::kArguments;
    return allocate(bytes, use, host ? MemoryKind::kFineGrained : MemoryKind::kCoarseGrained);
  }
  void* allocate(u64 bytes, Use use, MemoryKind kind, u32 device = 0);
  /// Lets kernels touch memory of the host program. Throws Failure (kInvalidValue) if some of it is an allocation.
  void adopt(void* pointer, u64 bytes, MemoryKind kind);
  /// Frees an allocation or gives adopted memory back. False if nothing live begins there. The latest freed ones keep
  /// their addresses, so that a use of them is not one of newer memory.
  bool release(void* pointer);
  /// Lets kernels of `device` touch the memory of `peer`, or not. Returns whether that changed anything.
  bool set_peer_access(u32 device, u32 peer, bool enabled);

  /// Backs a live allocation by memory that other processes can map; returns its descriptor, which stays open as long
  /// as the allocation lives. No kernel may run. Throws Failure.
  int share(void* begin);
  /// Whether there is live memory that other processes can map, or have lent.
  [[nodiscard]] bool shared() const;
  /// Maps such memory of another process. Throws Failure (kOutOfMemory).
  void* attach(int descriptor, u64 bytes, u32 device);

  [[nodiscard]] std::shared_ptr<const AllocationList> snapshot() const;

  /// What has been written of device memory that was allocated since track_written(); null before that.
  [[nodiscard]] WrittenBytes* written_bytes() { return written_.get(); }
  void track_written();
  /// The host has put something into [first, last).
  void note_written(u64 first, u64 last) {
    if (written_ != nullptr) written_->mark(first, last);
  }

 private:
  void insert(Allocation made);

  mutable std::mutex mutex_;
  std::shared_ptr<const AllocationList> list_;
  std::deque<AllocationHistory> histories_;
  std::map<u64, int> shared_;  ///< descriptors of shared allocations, by address
  u32 next_number_ = 1;
  std::unique_ptr<WrittenBytes> written_;
};

}  // namespace monojit::emulator
