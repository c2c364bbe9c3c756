// What goes on outside of the kernels that a scheduler runs: the host program and other processes.
#pragma once

#include <string>

#include "runtime/emulator/types.h"

namespace monojit::emulator {

/// Who else may still change what waiting kernels look at.
enum class Outside : u8 {
  kNobody,   ///< nothing happens any more unless time passes: it may jump, and a fixed point is a deadlock
  kTime,     ///< others wait for a time limit of theirs: time may jump, but a fixed point proves nothing
  kPerhaps,  ///< time passes as on the wall
  kWorking,  ///< work is under way that takes long here and would be short on the chip: time stands still
};

class OutsideWorld {
 public:
  virtual ~OutsideWorld() = default;
  /// After a round in which something happened.
  virtual void note_progress() = 0;
  /// After a round in which all waves only waited; `for_time`: some of them read the clock.
  virtual Outside look(bool for_time) = 0;
  /// Time jumped by so many ticks of 10 ns.
  virtual void note_jump(u64 ticks) = 0;
  /// How far time jumped elsewhere since this was asked last, beyond what it did here: it is one time for all.
  virtual u64 jumped_elsewhere() = 0;
  /// For a deadlock's report: whoever should be there and is not; lines that begin with a line break, or nothing.
  [[nodiscard]] virtual std::string describe() const = 0;
};

}  // namespace monojit::emulator
