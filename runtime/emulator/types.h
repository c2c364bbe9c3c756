// Short names of the fixed-width types that instruction semantics are written in.
#pragma once

#include <cstddef>
#include <cstdint>

namespace monojit::emulator {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
__extension__ typedef _Float16 f16;            // NOLINT(modernize-use-using): __extension__ needs a typedef
__extension__ typedef unsigned __int128 u128;  // NOLINT(modernize-use-using)

inline constexpr u32 kLanes = 64;
inline constexpr u32 kRowBytes = kLanes * 4;  ///< one VGPR of all lanes

// Hot headers are compiled for several host instruction sets. A function that is always inlined leaves no copy of its
// own for the linker to pick from the wrong one.
#define MONOJIT_EMULATOR_INLINE [[gnu::always_inline]] inline

}  // namespace monojit::emulator
