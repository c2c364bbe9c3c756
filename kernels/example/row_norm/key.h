#pragma once

#include "kernels/common/family.h"

namespace monojit::kernels::example {

/// Build key of the kernel that docs/writing-a-kernel.md walks through.
struct RowNormKey {
  int rows = 1;
  int hidden = 512;
  float eps = 1e-6F;
};

inline constexpr int kRowNormLanes = 64;        // one wave a row
inline constexpr int kRowNormWaves = 4;         // rows of a workgroup
inline constexpr int kRowNormLaneElements = 8;  // consecutive elements of one load
inline constexpr int kRowNormStep = kRowNormLanes * kRowNormLaneElements;

inline constexpr KeyField<RowNormKey> kRowNormFields[] = {
    required_integer<&RowNormKey::rows>("rows", "rows, four a workgroup", 1, 65535),
    required_integer<&RowNormKey::hidden>("hidden", "elements of a row, a multiple of 512", kRowNormStep, 16384),
    float32<&RowNormKey::eps>("eps", "added to the mean square", 0.0F, 1.0F, 1e-6F),
};

inline constexpr Argument kRowNormArguments[] = {
    {"x", ArgumentType::kPointer, 16, false, "bf16 [rows][hidden]: input"},
    {"g", ArgumentType::kPointer, 16, false, "bf16 [hidden]: weight"},
    {"y", ArgumentType::kPointer, 16, true, "bf16 [rows][hidden]: x / rms(x) * g"},
};

inline RowNormKey row_norm_key(const BuildKey& key) { return key.as(kRowNormFields); }

extern const Family kRowNorm;

}  // namespace monojit::kernels::example
