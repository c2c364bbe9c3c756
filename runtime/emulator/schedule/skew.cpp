#include "runtime/emulator/schedule/skew.h"

namespace monojit::emulator {
namespace {

constexpr u32 kMostRoundsBehind = 8;
constexpr u32 kDrawsOfTurns = 64;  // of 256 turns

}  // namespace

Skew::Skew(u64 seed, u32 devices) : seed_(seed), devices_(devices), random_(mix_seed(seed, devices)) {
  if (seed != 0 && devices > 1) draw();
}

/// One device is behind as often as all but one.
void Skew::draw() {
  const u32 count = 1 + random_.below(devices_ - 1);
  behind_ = 0;
  for (u32 chosen = 0; chosen < count;) {
    const u32 device = 1U << random_.below(devices_);
    if ((behind_ & device) != 0) continue;
    behind_ |= device;
    ++chosen;
  }
  begin(Turn::kAhead, 0);
}

void Skew::begin(Turn turn, u32 rounds) {
  turn_ = turn;
  rounds_ = rounds;
}

void Skew::end_round(bool idle) {
  if (seed_ == 0 || devices_ < 2) return;
  round_ = mix_seed(round_, random_.next());
  const bool over = rounds_ == 1;
  if (rounds_ > 0) --rounds_;
  switch (turn_) {
    case Turn::kAhead:
      moved_ |= !idle;
      if (!idle) return;
      if (random_.chance(kDrawsOfTurns)) return draw();
      return begin(Turn::kBehind, 1 + random_.below(kMostRoundsBehind));
    case Turn::kBehind:
      moved_ |= !idle;
      if (!over) return;
      if (!moved_) return begin(Turn::kAll, 1);
      moved_ = false;
      return begin(Turn::kAhead, 0);
    case Turn::kAll:
      if (idle) return begin(Turn::kAll, 1);
      if (over) moved_ = true, draw();
  }
}

}  // namespace monojit::emulator
