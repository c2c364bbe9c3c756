#include "runtime/emulator/memory/cache.h"

#include <algorithm>

#include <immintrin.h>

#include "runtime/emulator/memory/device_level.h"

namespace monojit::emulator {
namespace {

constexpr u32 kChunk = 16;

/// `lines`: a power of two, as a division takes longer than the rest of a look-up.
[[nodiscard]] u32 index_of(const Spot& spot, u32 lines) { return static_cast<u32>(spot.line_number & (lines - 1)); }

/// The bytes of one chunk that a mask names, in pieces as large and aligned as possible.
void write_chunk(u8* to, const u8* from, u32 mask) {
  for (u32 bytes = kChunk; bytes > 0; bytes /= 2) {
    const u32 piece = (1u << bytes) - 1;
    for (u32 at = 0; at < kChunk; at += bytes) {
      if ((mask >> at & piece) != piece) continue;
      copy_whole(to + at, from + at, bytes);
      mask &= ~(piece << at);
    }
    if (mask == 0) return;
  }
}

}  // namespace

void copy_whole(void* to, const void* from, u32 bytes) {
  switch (bytes) {
    case 16:
      _mm_storeu_si128(static_cast<__m128i*>(to), _mm_loadu_si128(static_cast<const __m128i*>(from)));
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 2:
      std::memcpy(to, from, 2);
      return;
    case 1:
      std::memcpy(to, from, 1);
      return;
    default:  // 12 bytes, and pieces of accesses that cross a line
      std::memcpy(to, from, bytes);
  }
}

void copy_line(u8* to, u64 line) {
  const u8* const from = reinterpret_cast<const u8*>(line);
  for (u32 at = 0; at < kLineBytes; at += kChunk) copy_whole(to + at, from + at, kChunk);
}

void write_masked(u64 line, const u8* data, ByteMask mask) {
  u8* const to = reinterpret_cast<u8*>(line);
  for (u32 at = 0; at < kLineBytes; at += kChunk) {
    const u32 chunk = static_cast<u32>(mask >> at) & 0xffff;
    if (chunk != 0) write_chunk(to + at, data + at, chunk);
  }
}

CacheLine& ReadCache::place(const Spot& spot) {
  if (table_.empty()) table_.resize(lines_);
  return table_[index_of(spot, lines_)];
}

void ReadCache::update(const Spot& spot, const void* data, u32 bytes) {
  if (table_.empty()) return;
  CacheLine& there = place(spot);
  if (there.line == spot.line()) std::memcpy(there.data + spot.offset(), data, bytes);
}

void ReadCache::drop(const Spot& spot) {
  if (table_.empty()) return;
  CacheLine& there = place(spot);
  if (there.line == spot.line()) there.line = 0;
}

CacheLine& WriteBackCache::place(const Spot& spot) {
  if (table_.empty()) table_.resize(lines_);
  return table_[index_of(spot, lines_)];
}

void WriteBackCache::read_below(const Spot& spot, bool refetch, u8* to) const {
  if (below_ == nullptr) return copy_line(to, spot.line());
  below_->read_line(spot, refetch, to);
}

void WriteBackCache::write_back(CacheLine& line) {
  if (below_ == nullptr) {
    write_masked(line.line, line.data, line.dirty);
  } else {
    below_->write_line({line.line, line.number, line.kind}, line.data, line.dirty);
  }
  line.dirty = 0;
}

bool WriteBackCache::write_back_all() {
  bool any = false;
  for (const u32 index : dirty_) {
    if (table_[index].dirty == 0) continue;
    write_back(table_[index]);
    any = true;
  }
  dirty_.clear();
  return any;
}

/// The place of a line, which becomes its own; without valid clean bytes if it was another's.
CacheLine& WriteBackCache::claim(const Spot& spot) {
  CacheLine& there = place(spot);
  if (there.line == spot.line()) return there;
  if (there.dirty != 0) write_back(there);
  there.line = spot.line();
  there.number = spot.line_number;
  there.kind = spot.kind;
  there.epoch = 0;
  return there;
}

CacheLine* WriteBackCache::find(const Spot& spot) {
  if (table_.empty()) return nullptr;
  CacheLine& there = place(spot);
  return there.line == spot.line() ? &there : nullptr;
}

CacheLine& WriteBackCache::fetch(const Spot& spot, bool refetch) {
  CacheLine& there = claim(spot);
  if (there.epoch == epoch_ && !refetch) return there;
  if (there.dirty == 0) {
    read_below(spot, refetch, there.data);
  } else {
    alignas(64) u8 fresh[kLineBytes];
    read_below(spot, refetch, fresh);
    for (u32 i = 0; i < kLineBytes; ++i) {
      if ((there.dirty >> i & 1) == 0) there.data[i] = fresh[i];
    }
  }
  there.epoch = epoch_;
  return there;
}

CacheLine& WriteBackCache::write(const Spot& spot, const void* data, u32 bytes) {
  CacheLine& there = claim(spot);
  std::memcpy(there.data + spot.offset(), data, bytes);
  mark_dirty(there, byte_mask(spot.address, bytes));
  return there;
}

void WriteBackCache::write_masked_line(const Spot& spot, const u8* data, ByteMask mask) {
  CacheLine& there = claim(spot);
  for (u32 i = 0; i < kLineBytes; ++i) {
    if ((mask >> i & 1) != 0) there.data[i] = data[i];
  }
  mark_dirty(there, mask);
}

void WriteBackCache::overwrite(const Spot& spot, const void* data, u32 bytes) {
  CacheLine* const there = find(spot);
  if (there == nullptr) return;
  std::memcpy(there->data + spot.offset(), data, bytes);
  there->dirty &= ~byte_mask(spot.address, bytes);
}

/// Lines that were evicted stay in the list until it is long enough to be worth making anew.
void WriteBackCache::mark_dirty(CacheLine& line, ByteMask mask) {
  const bool listed = line.dirty != 0;
  line.dirty |= mask;
  if (listed) return;
  if (dirty_.size() >= 2 * std::size_t{lines_}) {
    std::erase_if(dirty_, [this](u32 place) { return table_[place].dirty == 0; });
    std::ranges::sort(dirty_);
    dirty_.erase(std::ranges::unique(dirty_).begin(), dirty_.end());
  }
  dirty_.push_back(static_cast<u32>(&line - table_.data()));
}

void WriteBackCache::flush(const Spot& spot) {
  CacheLine* const there = find(spot);
  if (there == nullptr) return;
  if (there->dirty != 0) write_back(*there);
  there->line = 0;
}

}  // namespace monojit::emulator
