// The MODE register and what it means for the host's floating point.
#pragma once

#include "runtime/emulator/execute/wave.h"

namespace monojit::emulator {

/// The host's MXCSR for units that MODE does not reach: nearest even, denormals kept.
inline constexpr u32 kHostModeDefault = 0x1f80;

/// Sets the wave's MODE and derives the host's MXCSR values. The caller loads host_mode32 if the wave is running.
inline void set_mode(Wave& wave, u32 mode) {
  constexpr u32 kDenormalsAreZero = 0x0040;
  constexpr u32 kFlushToZero = 0x8000;
  // AMD: nearest, +inf, -inf, zero. x86: nearest, -inf, +inf, zero.
  constexpr u32 kRounding[] = {0x0000, 0x4000, 0x2000, 0x6000};
  const auto host = [&](u32 round, u32 denormals) {
    return kHostModeDefault | kRounding[round & 3] | ((denormals & 1) != 0 ? 0 : kDenormalsAreZero) |
           ((denormals & 2) != 0 ? 0 : kFlushToZero);
  };
  constexpr u32 kKeepsDenormals = 3;
  constexpr u32 kSemantic = 0xff | kModeDx10ClampBit | kModeIeeeBit | kModeFp16OverflowBit;
  constexpr u32 kPlain = 0xf0 | kModeDx10ClampBit | kModeIeeeBit;  // nearest, denormals kept
  wave.mode = mode;
  wave.plain_mode = (mode & kSemantic) == kPlain;
  wave.host_mode32 = host(mode, mode >> kModeDenormal32Shift);
  wave.host_mode64 = host(mode >> kModeRound64Shift, mode >> kModeDenormal64Shift);
  wave.host_mode16 = host(mode >> kModeRound64Shift, kKeepsDenormals);
}

}  // namespace monojit::emulator
