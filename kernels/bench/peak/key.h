#pragma once

#include "kernels/common/family.h"

namespace monojit::kernels::bench {

enum class PeakUnit : std::uint8_t {
  kValu,            ///< independent chains of f32 and integer arithmetic
  kLds,             ///< loads and stores of 4, 8 and 16 bytes a lane
  kMfmaBf16,        ///< independent chains of the chip's widest 16x16 bf16 MFMA, all columns different
  kMfmaBf16Batch8,  ///< the same with 8 different columns, as in a decode batch of 8
  kMfmaFp4,         ///< scaled 16x16x128 of FP4 by FP4, all columns different; gfx950
  kCopy,            ///< memory, 16 bytes a lane
};

/// Build key of the kernel that keeps one unit of the chip, or of the emulator, as busy as it can.
struct PeakKey {
  PeakUnit unit = PeakUnit::kValu;
};

inline constexpr int kPeakWorkgroups = 8;
inline constexpr int kPeakThreads = 256;
inline constexpr int kPeakLdsWords = 4096;
inline constexpr int kPeakLdsSteps = 4;  ///< each 6 instructions a wave, of one round
inline constexpr int kPeakLdsInstructions = 6 * kPeakLdsSteps;
inline constexpr int kPeakCopyBytes = 16;  ///< a lane and round

inline constexpr Choice kPeakUnits[] = {{"valu", 0},         {"lds", 1},      {"mfma_bf16", 2},
                                        {"mfma_bf16_s8", 3}, {"mfma_fp4", 4}, {"copy", 5}};

inline constexpr KeyField<PeakKey> kPeakFields[] = {
    choice<&PeakKey::unit>("unit", "what is kept busy", kPeakUnits, 0),
};

inline constexpr Argument kPeakArguments[] = {
    {"out", ArgumentType::kPointer, 16, true,
     "f32 [2048]: a number of each thread, so that no work is idle; copy: 32 KiB a round, and behind it their copy"},
    {"rounds", ArgumentType::kInt32, 0, false, "times that the loop runs"},
};

inline PeakKey peak_key(const BuildKey& key) { return key.as(kPeakFields); }

extern const Family kPeak;

}  // namespace monojit::kernels::bench
