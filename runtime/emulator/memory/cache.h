// Caches of the weak memory mode: direct-mapped tables of lines, forgotten as a whole by counting an epoch up.
#pragma once

#include <cstring>
#include <vector>

#include "runtime/emulator/memory/allocations.h"
#include "runtime/emulator/types.h"

namespace monojit::emulator {

inline constexpr u64 kLineBytes = 128;

[[nodiscard]] constexpr u64 line_of(u64 address) { return address & ~(kLineBytes - 1); }

/// A place in memory: its address, and the number of its line among all allocations. Caches are indexed by the latter,
/// as addresses differ from run to run.
struct Spot {
  u64 address = 0;
  u64 line_number = 0;
  MemoryKind kind = MemoryKind::kCoarseGrained;

  [[nodiscard]] u64 line() const { return line_of(address); }
  [[nodiscard]] u64 offset() const { return address % kLineBytes; }
};

class DeviceLevel;

/// One bit a byte of a line.
using ByteMask = u128;

[[nodiscard]] constexpr ByteMask byte_mask(u64 address, u32 bytes) {
  return ((ByteMask{1} << bytes) - 1) << (address & (kLineBytes - 1));
}

/// A copy of up to 16 bytes that other host threads see as one step where a chip's access would be one.
void copy_whole(void* to, const void* from, u32 bytes);
/// A line of host memory, in steps of 16 bytes.
void copy_line(u8* to, u64 line);
/// The bytes of a line that `mask` names, to host memory.
void write_masked(u64 line, const u8* data, ByteMask mask);

struct CacheLine {
  u64 line = 0;    ///< its address; 0 is none
  u64 number = 0;  ///< Spot::line_number
  MemoryKind kind = MemoryKind::kCoarseGrained;
  u64 epoch = 0;  ///< of the cache when the line was fetched: an older one than the cache's makes its clean bytes void
  ByteMask dirty = 0;
  alignas(64) u8 data[kLineBytes];
};

/// A cache that writes through: nothing in it is dirty.
class ReadCache {
 public:
  /// A power of two of lines.
  explicit ReadCache(u32 lines) : lines_(lines) {}

  void invalidate() { ++epoch_; }
  [[nodiscard]] CacheLine& place(const Spot& spot);
  [[nodiscard]] bool holds(const CacheLine& place, u64 line) const {
    return place.line == line && place.epoch == epoch_;
  }
  void set(CacheLine& place, u64 line) { place.line = line, place.epoch = epoch_; }
  /// What a store that goes by leaves in a line that is there.
  void update(const Spot& spot, const void* data, u32 bytes);
  void drop(const Spot& spot);

 private:
  u32 lines_;
  u64 epoch_ = 1;
  std::vector<CacheLine> table_;  // made by the first use
};

/// A cache that keeps what is written to it. Dirty bytes survive invalidation: only write_back() or an eviction ends
/// them. Below it is a device's level, or host memory.
class WriteBackCache {
 public:
  /// A power of two of lines.
  explicit WriteBackCache(u32 lines, DeviceLevel* below = nullptr) : lines_(lines), below_(below) {}

  void invalidate() { ++epoch_; }
  /// Dirty bytes to what is below; they are clean then.
  void write_back(CacheLine& line);
  /// Whether there was anything to write back.
  bool write_back_all();
  /// The line, if any part of it is here.
  [[nodiscard]] CacheLine* find(const Spot& spot);
  /// The line with all bytes valid, fetched where they are not (or all clean ones afresh, if `refetch`).
  [[nodiscard]] CacheLine& fetch(const Spot& spot, bool refetch);
  /// At most 16 bytes inside a line, which become dirty.
  CacheLine& write(const Spot& spot, const void* data, u32 bytes);
  /// The bytes of a line that `mask` names, which become dirty.
  void write_masked_line(const Spot& spot, const u8* data, ByteMask mask);
  /// What a store that goes by leaves in a line that is there: these bytes are clean.
  void overwrite(const Spot& spot, const void* data, u32 bytes);
  /// Clean bytes of the line are void; dirty ones are written back.
  void flush(const Spot& spot);

 private:
  [[nodiscard]] CacheLine& place(const Spot& spot);
  [[nodiscard]] CacheLine& claim(const Spot& spot);
  void read_below(const Spot& spot, bool refetch, u8* to) const;
  void mark_dirty(CacheLine& line, ByteMask mask);

  u32 lines_;
  DeviceLevel* below_;
  u64 epoch_ = 1;
  std::vector<CacheLine> table_;
  std::vector<u32> dirty_;  // places that may hold dirty bytes
};

}  // namespace monojit::emulator
