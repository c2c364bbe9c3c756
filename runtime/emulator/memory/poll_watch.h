// Tells which waves poll: they sleep, look at some lines, find nothing and sleep again in the same place.
//
// Such a wave need not be visited before one of those lines has changed: it would find the same. It looks again in the
// very visit in which it would have seen the change without this, so hand-offs are no slower, and mistakes in them
// come out as before.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/emulator/memory/line_versions.h"

namespace monojit::emulator {

struct MicroOp;

class PollWatch {
 public:
  /// A load is going to look at a line, past the caches.
  void look(u16 place, u32 version) {
    if (!places_.empty() && places_.back() == place) return;
    if (places_.size() == kMostPlaces) return disturb();
    places_.push_back(place);
    versions_ += version;
  }
  void count_load() { ++loads_; }
  /// The wave did something else than to look: another look may find something else.
  void disturb() { disturbed_ = true; }
  /// The wave sleeps, to go on with `where`; it has executed so many vector memory instructions since it slept last.
  void sleep(const MicroOp* where, u64 memory_instructions) {
    polls_ = !disturbed_ && where == where_ && loads_ == memory_instructions && !places_.empty();
    where_ = where;
    seen_.swap(places_);
    seen_versions_ = versions_;
    naps_ = 0;
    places_.clear();
    versions_ = loads_ = 0;
    disturbed_ = false;
  }
  /// Whether the wave, which sleeps, would look in vain. After some times it may look all the same: a copy or the host
  /// may have changed something, and loops that count their looks must end.
  [[nodiscard]] bool in_vain(const LineVersions& versions) {
    if (!polls_ || naps_ == kMostNaps) return false;
    u64 sum = 0;
    for (const u16 place : seen_) sum += versions.at(place);
    if (sum != seen_versions_) return false;
    ++naps_;
    return true;
  }

 private:
  static constexpr std::size_t kMostPlaces = 1024;
  static constexpr u32 kMostNaps = 64;

  std::vector<u16> places_, seen_;        ///< since the wave slept last, and before that
  u64 versions_ = 0, seen_versions_ = 0;  ///< sums: versions only grow
  u64 loads_ = 0;
  const MicroOp* where_ = nullptr;
  u32 naps_ = 0;
  bool disturbed_ = true;
  bool polls_ = false;
};

}  // namespace monojit::emulator
