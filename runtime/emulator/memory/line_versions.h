// How often lines may have become others to those who look at them: what tells whether another look may pay.
#pragma once

#include <atomic>
#include <vector>

#include "runtime/emulator/types.h"

namespace monojit::emulator {

/// One counter for many lines: a look too many costs little. Functions may be called from several threads.
class LineVersions {
 public:
  LineVersions() : counters_(kCounters) {}

  /// Which counter is a line's, by Spot::line_number.
  [[nodiscard]] static constexpr u16 place_of(u64 line_number) { return static_cast<u16>(line_number); }
  /// Who looks takes the version first and the line then; who changes the line counts afterwards.
  [[nodiscard]] u32 at(u16 place) const { return counters_[place].load(std::memory_order_acquire); }
  void changed(u64 line_number) { counters_[place_of(line_number)].fetch_add(1, std::memory_order_release); }

 private:
  static constexpr u32 kCounters = 1u << 16;  // what a place can name
  std::vector<std::atomic<u32>> counters_;
};

}  // namespace monojit::emulator
