// Instruction bits that memory handlers find in MicroOp::aux.
#pragma once

#include "runtime/emulator/types.h"

namespace monojit::emulator {

inline constexpr u32 kOffsetEnable = 1;       ///< MUBUF offen
inline constexpr u32 kIndexEnable = 2;        ///< MUBUF idxen
inline constexpr u32 kTypedDataShift = 8;     ///< MTBUF data format, four bits
inline constexpr u32 kTypedNumberShift = 12;  ///< MTBUF number format, three bits
inline constexpr u32 kFlatAddresses = 4;      ///< flat_*: addresses may lie in LDS or scratch
inline constexpr u32 kScopeShift = 28;        ///< sc0 there, sc1 above it
inline constexpr u32 kScope0 = 1u << kScopeShift;
inline constexpr u32 kScope1 = 2u << kScopeShift;
inline constexpr u32 kNonTemporal = 4u << kScopeShift;

// High halves of the addresses that flat instructions take as LDS and as scratch. Host addresses stay below 2^47.
inline constexpr u64 kSharedApertureBase = u64{0x00010000} << 32;
inline constexpr u64 kPrivateApertureBase = u64{0x00020000} << 32;

}  // namespace monojit::emulator
