// From a code object address to the source line that its debug information names.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/emulator/types.h"

namespace monojit::emulator {

/// "kernels/minimax_m3/k1/norm.cpp:41", or empty where the object does not say.
[[nodiscard]] std::string source_line(std::span<const u8> code_object, u64 address);

/// The lines of many addresses; empty texts where the object does not say.
[[nodiscard]] std::vector<std::string> source_lines(std::span<const u8> code_object, std::span<const u64> addresses);

}  // namespace monojit::emulator
