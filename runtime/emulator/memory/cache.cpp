#include "runtime/emulator/memory/cache.h"

#include <algorithm>

#include <immintrin.h>

#include "runtime/emulator/memory/device_level.h"
#include "runtime/emulator/memory/line_versions.h"

namespace monojit::emulator {
namespace {

constexpr u32 kChunk = 16;

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

void copy_chunks(u8* to, const u8* from, u32 bytes) {
  for (u32 at = 0; at < bytes; at += kChunk) copy_whole(to + at, from + at, kChunk);
}

void copy_line(u8* to, u64 line) { copy_chunks(to, reinterpret_cast<const u8*>(line), kLineBytes); }

void copy_masked(u8* to, const u8* from, ByteMask mask) {
  for (u32 at = 0; at < kLineBytes; at += kChunk) {
    const u32 chunk = static_cast<u32>(mask >> at) & 0xffff;
    if (chunk != 0) write_chunk(to + at, from + at, chunk);
  }
}

u8* ReadCache::claim(const Spot& spot) {
  if (tags_.empty()) {
    tags_.resize(lines_);
    data_ = std::make_unique_for_overwrite<LineData[]>(lines_);
  }
  const u32 place = index_of(spot, lines_);
  tags_[place] = {.line = spot.line(), .epoch = epoch_};
  return data_[place].bytes;
}

void ReadCache::update(const Spot& spot, const LineData& data, ByteMask mask) {
  if (tags_.empty()) return;
  const u32 place = index_of(spot, lines_);
  if (tags_[place].line == spot.line()) copy_masked(data_[place].bytes, data.bytes, mask);
}

void ReadCache::drop(const Spot& spot) {
  if (tags_.empty()) return;
  CacheTag& tag = tags_[index_of(spot, lines_)];
  if (tag.line == spot.line()) tag.line = 0;
}

void WriteBackCache::read_below(const Spot& spot, bool refetch, u8* to) const {
  if (below_ == nullptr) return copy_line(to, spot.line());
  below_->read_line(spot, refetch, to);
}

void WriteBackCache::write_back_place(u32 place) {
  const u64 line = tags_[place].line;
  LineState& state = states_[place];
  if (below_ == nullptr) {
    copy_masked(reinterpret_cast<u8*>(line), data_[place].bytes, state.dirty);
  } else {
    below_->write_line({line, state.number, state.kind}, data_[place], state.dirty);
  }
  state.dirty = 0;
  versions_.changed(state.number);
}

void WriteBackCache::write_back(const Spot& spot) {
  const u32 place = index_of(spot, lines_);
  if (holds(spot, place) && states_[place].dirty != 0) write_back_place(place);
}

bool WriteBackCache::write_back_all() {
  bool any = false;
  for (const u32 place : dirty_) {
    if (states_[place].dirty == 0) continue;
    write_back_place(place);
    any = true;
  }
  dirty_.clear();
  return any;
}

/// The place of a line, which becomes its own; without valid clean bytes if it was another's.
u32 WriteBackCache::claim(const Spot& spot) {
  if (tags_.empty()) {
    tags_.resize(lines_);
    states_.resize(lines_);
    data_ = std::make_unique_for_overwrite<LineData[]>(lines_);
  }
  const u32 place = index_of(spot, lines_);
  if (tags_[place].line == spot.line()) return place;
  LineState& state = states_[place];
  if (state.dirty != 0) write_back_place(place);
  state = {.dirty = 0, .number = spot.line_number, .kind = spot.kind};
  tags_[place] = {.line = spot.line(), .epoch = 0};
  return place;
}

const u8* WriteBackCache::fetch(const Spot& spot, bool refetch) {
  const u32 place = claim(spot);
  u8* const bytes = data_[place].bytes;
  if (tags_[place].epoch == epoch_ && !refetch) return bytes;
  const ByteMask dirty = states_[place].dirty;
  if (dirty == 0) {
    read_below(spot, refetch, bytes);
  } else {
    LineData fresh;
    read_below(spot, refetch, fresh.bytes);
    copy_masked(bytes, fresh.bytes, ~dirty);
  }
  tags_[place].epoch = epoch_;
  return bytes;
}

void WriteBackCache::write(const Spot& spot, const LineData& data, ByteMask mask) {
  const u32 place = claim(spot);
  copy_masked(data_[place].bytes, data.bytes, mask);
  mark_dirty(place, mask);
}

void WriteBackCache::overwrite(const Spot& spot, const LineData& data, ByteMask mask) {
  const u32 place = index_of(spot, lines_);
  if (!holds(spot, place)) return;
  copy_masked(data_[place].bytes, data.bytes, mask);
  states_[place].dirty &= ~mask;
}

/// Lines that were evicted stay in the list until it is long enough to be worth making anew.
void WriteBackCache::mark_dirty(u32 place, ByteMask mask) {
  LineState& state = states_[place];
  const bool listed = state.dirty != 0;
  state.dirty |= mask;
  if (listed) return;
  if (dirty_.size() >= 2 * std::size_t{lines_}) {
    std::erase_if(dirty_, [this](u32 other) { return states_[other].dirty == 0; });
    std::ranges::sort(dirty_);
    dirty_.erase(std::ranges::unique(dirty_).begin(), dirty_.end());
  }
  dirty_.push_back(place);
}

void WriteBackCache::flush(const Spot& spot) {
  const u32 place = index_of(spot, lines_);
  if (!holds(spot, place)) return;
  if (states_[place].dirty != 0) write_back_place(place);
  tags_[place].line = 0;
}

}  // namespace monojit::emulator
