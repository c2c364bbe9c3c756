#pragma once

#include "kernels/common/family.h"

namespace monojit::kernels::bench {

enum class PeakUnit : std::uint8_t {
  kValu,      ///< independent chains of f32 and integer arithmetic
  kMfmaBf16,  ///< independent chains of the chip's widest 16x16 bf16 MFMA, all columns different
};

/// Build key of the kernel that keeps one unit of the chip, or of the emulator, as busy as it can.
struct PeakKey {
  PeakUnit unit = PeakUnit::kValu;
};

inline constexpr int kPeakWorkgroups = 8;
inline constexpr int kPeakThreads = 256;

inline constexpr Choice kPeakUnits[] = {{"valu", 0}, {"mfma_bf16", 1}};

inline constexpr KeyField<PeakKey> kPeakFields[] = {
    choice<&PeakKey::unit>("unit", "what is kept busy", kPeakUnits, 0),
};

inline constexpr Argument kPeakArguments[] = {
    {"out", ArgumentType::kPointer, 16, true, "f32 [2048]: a number of each thread, so that no work is idle"},
    {"rounds", ArgumentType::kInt32, 0, false, "times that the loop runs"},
};

inline PeakKey peak_key(const BuildKey& key) { return key.as(kPeakFields); }

extern const Family kPeak;

}  // namespace monojit::kernels::bench
