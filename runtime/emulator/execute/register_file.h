// A wave's registers: one block of memory, addressed by byte offsets that are fixed when a kernel is decoded.
//
//   words 0..127      scalar registers by their encoding: s0..s103, flat_scratch, xnack_mask, vcc, ttmp, m0, (scc),
//   exec words 128..143    temporary scalars of split instructions rows              VGPRs, AGPRs, temporary rows: 64
//   words each constants         the kernel's inline constants and literals: a constant is a scalar operand like any
//   other
#pragma once

#include "runtime/emulator/types.h"

namespace monojit::emulator {

inline constexpr u32 kFlatScratchWord = 102;
inline constexpr u32 kXnackMaskWord = 104;
inline constexpr u32 kVccWord = 106;
inline constexpr u32 kTtmpWord = 108;
inline constexpr u32 kM0Word = 124;
inline constexpr u32 kSccWord = 125;  ///< no register is encoded there on these chips
inline constexpr u32 kExecWord = 126;
inline constexpr u32 kTemporaryScalarWord = 128;
inline constexpr u32 kTemporaryScalars = 16;
inline constexpr u32 kFirstRowByte = (kTemporaryScalarWord + kTemporaryScalars) * 4;
inline constexpr u32 kTemporaryRows = 24;
inline constexpr u32 kRowAlignment = 64;
static_assert(kFirstRowByte % kRowAlignment == 0);

[[nodiscard]] constexpr u32 scalar_offset(u32 word) { return word * 4; }
[[nodiscard]] constexpr u32 row_offset(u32 row) { return kFirstRowByte + row * kRowBytes; }

}  // namespace monojit::emulator
