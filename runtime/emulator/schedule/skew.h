// Devices that are held back at random, so that others run ahead of them as far as their kernels let them.
#pragma once

#include "runtime/emulator/memory/random.h"
#include "runtime/emulator/types.h"

namespace monojit::emulator {

/// Devices are ahead or behind, drawn anew from time to time. Those ahead run until all of them only wait; then, while
/// they stand still, those behind get a few rounds, in each of them half of their workgroups. When neither can move,
/// all run: time passes and deadlocks are found as without a skew.
class Skew {
 public:
  Skew() = default;
  /// Seed 0: nobody is held.
  Skew(u64 seed, u32 devices);

  [[nodiscard]] u64 seed() const { return seed_; }
  /// Somebody may be held in this round.
  [[nodiscard]] bool on() const { return turn_ != Turn::kAll; }
  [[nodiscard]] bool holds(u32 device, u64 workgroup) const {
    const bool behind = behind_ >> device & 1;
    if (turn_ == Turn::kAhead) return behind;
    return turn_ == Turn::kBehind && (!behind || mix_seed(round_, workgroup) % 2 == 0);
  }

  /// Between rounds. `idle`: none of those that ran came any further.
  void end_round(bool idle);

 private:
  enum class Turn : u8 { kAll, kAhead, kBehind };

  void draw();
  void begin(Turn turn, u32 rounds);

  u64 seed_ = 0;
  u32 devices_ = 1;
  Random random_;
  Turn turn_ = Turn::kAll;
  u32 behind_ = 0;     ///< a bit a device
  u64 round_ = 0;      ///< a random number of it
  u32 rounds_ = 0;     ///< that are left of the turn; of those ahead: 0, as they have no end
  bool moved_ = true;  ///< somebody, in the turn before or in this one
};

}  // namespace monojit::emulator
