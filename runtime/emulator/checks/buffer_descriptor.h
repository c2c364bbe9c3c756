// Sanity of buffer descriptors: mistakes that a chip answers with zeros, or with an address nobody meant.
#pragma once

#include <optional>
#include <string>

#include "runtime/emulator/execute/wave.h"

namespace monojit::emulator {

/// What is wrong with the four words at a register file offset, if anything.
[[nodiscard]] std::optional<std::string> descriptor_problem(const u32 (&words)[4]);

}  // namespace monojit::emulator
