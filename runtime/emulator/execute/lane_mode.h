// MODE as a semantic sees it.
#pragma once

#include "runtime/emulator/execute/wave.h"
#include "runtime/emulator/numerics/host_isa.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {

/// As a constant, MODE is what compilers leave it at; then loops that depend on it become vector code.
struct Mode {
  bool plain = true;
  bool fp16_ovfl = false;
  bool ieee = true;
  bool dx10_clamp = true;
  bool flush_in32 = false;
  bool flush_out32 = false;
  bool flush_in16 = false;  ///< of f64 too
  bool flush_out16 = false;
  u32 round16 = 0;  ///< of f64 too: nearest even, up, down, towards zero

  MONOJIT_EMULATOR_INLINE static Mode of(const Wave& wave) {
    const u32 denormal32 = wave.mode >> kModeDenormal32Shift, denormal64 = wave.mode >> kModeDenormal64Shift;
    return {.plain = false,
            .fp16_ovfl = (wave.mode & kModeFp16OverflowBit) != 0,
            .ieee = (wave.mode & kModeIeeeBit) != 0,
            .dx10_clamp = (wave.mode & kModeDx10ClampBit) != 0,
            .flush_in32 = (denormal32 & 1) == 0,
            .flush_out32 = (denormal32 & 2) == 0,
            .flush_in16 = (denormal64 & 1) == 0,
            .flush_out16 = (denormal64 & 2) == 0,
            .round16 = wave.mode >> kModeRound64Shift & 3};
  }
};

/// MODE for conversions that round to nearest even whatever it says: they run under the host's default.
struct NearestMode : Mode {};

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
