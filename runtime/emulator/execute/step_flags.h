// What the decoder tells the .insert step in MicroOp::aux, besides the width of the field in bits 0..5.
#pragma once

#include "runtime/emulator/types.h"

namespace monojit::emulator {

inline constexpr u32 kInsertWidthMask = 63;
inline constexpr u32 kInsertKeepsRest = 64;     ///< bits outside the field stay; else they become zero
inline constexpr u32 kInsertExtendsSign = 128;  ///< bits above the field become its sign

}  // namespace monojit::emulator
