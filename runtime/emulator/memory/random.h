// Small reproducible random numbers for the weak memory mode.
#pragma once

#include "runtime/emulator/types.h"

namespace monojit::emulator {

/// Mixes numbers into a seed (the finaliser of SplitMix64).
[[nodiscard]] constexpr u64 mix_seed(u64 seed, u64 value) {
  u64 x = seed + 0x9e3779b97f4a7c15ull * (value + 1);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

/// xorshift64*.
class Random {
 public:
  explicit Random(u64 seed = 1) : state_(seed | 1) {}

  u32 next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<u32>(state_ * 0x2545f4914f6cdd1dull >> 32);
  }
  /// 0..limit-1.
  u32 below(u32 limit) { return static_cast<u32>(u64{next()} * limit >> 32); }
  /// True with probability chance / 256.
  bool chance(u32 chance) { return (next() >> 24) < chance; }

 private:
  u64 state_;
};

}  // namespace monojit::emulator
