// Executed instructions by class.
#pragma once

#include <array>

#include "runtime/emulator/types.h"

namespace monojit::emulator {

enum class CountClass : u8 { kAll, kVector, kScalar, kScalarMemory, kVectorMemory, kLds, kMatrix, kOther };
inline constexpr u32 kCountClasses = 8;

/// How many instructions of each class precede a micro-op in program order: a straight run of instructions is counted
/// by one subtraction when the wave leaves it.
using StaticCounts = std::array<u32, kCountClasses>;
using DynamicCounts = std::array<u64, kCountClasses>;

}  // namespace monojit::emulator
