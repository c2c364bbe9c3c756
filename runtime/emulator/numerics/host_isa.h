// The emulator's hot code is compiled once for each host instruction set below and chosen at run time. Everything
// inline in this folder lives in a namespace named after the instruction set it was compiled for: otherwise the linker
// would keep one copy of each inline function, possibly one this processor cannot run.
#pragma once

#include <cstdint>

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define MONOJIT_HOST_ISA_NAMESPACE isa_v4
#elif defined(__AVX2__) && defined(__FMA__)
#define MONOJIT_HOST_ISA_NAMESPACE isa_v3
#else
#define MONOJIT_HOST_ISA_NAMESPACE isa_v1
#endif

namespace monojit::emulator {

/// Host instruction sets that the hot code is built for: x86-64-v3 (AVX2, FMA) and x86-64-v4 (AVX-512 F, BW, CD, DQ,
/// VL).
enum class HostIsa : std::uint8_t { kX86V3, kX86V4 };

}  // namespace monojit::emulator
