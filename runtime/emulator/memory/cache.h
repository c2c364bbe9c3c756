// Caches of the weak memory mode: direct-mapped tables of lines, forgotten as a whole by counting an epoch up.
#pragma once

#include <cstring>
#include <memory>
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
  /// So many lines further on in the same allocation.
  [[nodiscard]] Spot lines_on(u32 lines) const { return {address + lines * kLineBytes, line_number + lines, kind}; }
};

class DeviceLevel;
class LineVersions;

/// One bit a byte of a line.
using ByteMask = u128;

[[nodiscard]] constexpr ByteMask byte_mask(u64 address, u32 bytes) {
  return ((ByteMask{1} << bytes) - 1) << (address & (kLineBytes - 1));
}

/// A copy of up to 16 bytes that other host threads see as one step where a chip's access would be one.
void copy_whole(void* to, const void* from, u32 bytes);
/// A multiple of 16 bytes, in steps of 16.
void copy_chunks(u8* to, const u8* from, u32 bytes);
/// A line of host memory, in such steps.
void copy_line(u8* to, u64 line);
/// The bytes of a line that `mask` names, in pieces as large and aligned as possible.
void copy_masked(u8* to, const u8* from, ByteMask mask);

/// Which line a place of a cache holds. Apart from the bytes, as most look-ups find another line there.
struct CacheTag {
  u64 line = 0;   ///< its address; 0 is none
  u64 epoch = 0;  ///< of the cache when it was fetched: an older one than the cache's makes its clean bytes void
};

struct LineData {
  alignas(64) u8 bytes[kLineBytes];
};

/// `lines`: a power of two, as a division takes longer than the rest of a look-up.
[[nodiscard]] inline u32 index_of(const Spot& spot, u32 lines) {
  return static_cast<u32>(spot.line_number & (lines - 1));
}

inline void prefetch_line(u8* bytes) {
  constexpr u64 kHostLine = 64;
  for (u64 at = 0; at < kLineBytes; at += kHostLine) __builtin_prefetch(bytes + at, 1);
}

/// A cache that writes through: nothing in it is dirty.
class ReadCache {
 public:
  /// A power of two of lines.
  explicit ReadCache(u32 lines) : lines_(lines) {}

  void invalidate() { ++epoch_; }
  /// The line's bytes; null if they are not here.
  [[nodiscard]] const u8* find(const Spot& spot) const {
    if (tags_.empty()) return nullptr;
    const u32 place = index_of(spot, lines_);
    return tags_[place].line == spot.line() && tags_[place].epoch == epoch_ ? data_[place].bytes : nullptr;
  }
  /// Tells the host that a line will be looked for, and put here if it is not.
  void prefetch(const Spot& spot) const {
    if (!tags_.empty()) prefetch_line(data_[index_of(spot, lines_)].bytes);
  }
  /// Where the line's bytes are to be put: they count as here from now on.
  [[nodiscard]] u8* claim(const Spot& spot);
  /// What a store of the bytes of `mask` leaves in a line that is there.
  void update(const Spot& spot, const LineData& data, ByteMask mask);
  void drop(const Spot& spot);

 private:
  u32 lines_;
  u64 epoch_ = 1;
  std::vector<CacheTag> tags_;        // made by the first use, as the bytes are
  std::unique_ptr<LineData[]> data_;  // nothing in them where no line is: pages are touched only as they are used
};

/// A cache that keeps what is written to it. Dirty bytes survive invalidation: only a write-back or an eviction ends
/// them. Below it is a device's level, or host memory.
class WriteBackCache {
 public:
  /// A power of two of lines.
  WriteBackCache(u32 lines, LineVersions& versions, DeviceLevel* below = nullptr)
      : lines_(lines), versions_(versions), below_(below) {}

  void invalidate() { ++epoch_; }
  /// Tells the host that a line will be fetched.
  void prefetch(const Spot& spot) const {
    if (tags_.empty()) return;
    const u32 place = index_of(spot, lines_);
    __builtin_prefetch(&tags_[place], 1);
    __builtin_prefetch(&states_[place], 1);
    prefetch_line(data_[place].bytes);
  }
  /// A line's dirty bytes to what is below; they are clean then.
  void write_back(const Spot& spot);
  /// Whether there was anything to write back.
  bool write_back_all();
  /// The line with all bytes valid, fetched where they are not (or all clean ones afresh, if `refetch`).
  [[nodiscard]] const u8* fetch(const Spot& spot, bool refetch);
  /// The bytes of a line that `mask` names, which become dirty.
  void write(const Spot& spot, const LineData& data, ByteMask mask);
  /// What a store that goes by leaves in a line that is there: these bytes are clean.
  void overwrite(const Spot& spot, const LineData& data, ByteMask mask);
  /// Clean bytes of the line are void; dirty ones are written back.
  void flush(const Spot& spot);

 private:
  struct LineState {
    ByteMask dirty = 0;
    u64 number = 0;  ///< Spot::line_number
    MemoryKind kind = MemoryKind::kCoarseGrained;
  };

  /// Whether any part of the line is at its place.
  [[nodiscard]] bool holds(const Spot& spot, u32 place) const {
    return !tags_.empty() && tags_[place].line == spot.line();
  }
  [[nodiscard]] u32 claim(const Spot& spot);
  void write_back_place(u32 place);
  void read_below(const Spot& spot, bool refetch, u8* to) const;
  void mark_dirty(u32 place, ByteMask mask);

  u32 lines_;
  LineVersions& versions_;
  DeviceLevel* below_;
  u64 epoch_ = 1;
  std::vector<CacheTag> tags_;  // made by the first use, as what follows
  std::vector<LineState> states_;
  std::unique_ptr<LineData[]> data_;  // nothing in them where no line is
  std::vector<u32> dirty_;            // places that may hold dirty bytes
};

}  // namespace monojit::emulator
