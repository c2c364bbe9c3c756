// What s_waitcnt asks for.
#pragma once

#include "runtime/emulator/types.h"

namespace monojit::emulator {

/// At most so many operations may be left.
struct WaitCounts {
  u32 vector_memory = 63;
  u32 lds = 15;  ///< and scalar memory

  /// SIMM16: vmcnt in bits 3:0 and 15:14, lgkmcnt in bits 11:8.
  static constexpr WaitCounts of(u32 simm16) {
    return {.vector_memory = (simm16 & 15) | (simm16 >> 14 & 3) << 4, .lds = simm16 >> 8 & 15};
  }
};

}  // namespace monojit::emulator
