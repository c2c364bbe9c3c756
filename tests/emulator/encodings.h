// Every instruction that LLVM's disassembler knows for a chip, found by trying all opcodes of all encodings.
#pragma once

#include <functional>
#include <string_view>

#include "runtime/emulator/chip.h"
#include "runtime/emulator/decode/instruction.h"

namespace monojit::emulator::test {

/// Calls `visit` with samples of every opcode: operands and modifiers are random bits of a fixed seed. `format` is the
/// name of the encoding: "SOP2", "VOP1 SDWA", "FLAT", ...
void for_each_encoding(const ChipLimits& chip,
                       const std::function<void(const Instruction& instruction, std::string_view format)>& visit);

}  // namespace monojit::emulator::test
