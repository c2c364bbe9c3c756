// Encodings that LLVM's disassembler or printer falls over, although they are only invalid: data between functions
// looks like anything.
#pragma once

#include "runtime/emulator/types.h"

namespace monojit::emulator {

/// Of the first 8 bytes of an instruction.
[[nodiscard]] bool is_impossible_encoding(u64 encoding);

}  // namespace monojit::emulator
