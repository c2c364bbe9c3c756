// LLVM's AMDGPU disassembler behind an interface without LLVM headers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/emulator/chip.h"
#include "runtime/emulator/decode/instruction.h"
#include "runtime/emulator/decode/register_use.h"

namespace monojit::emulator {

class Disassembler {
 public:
  /// Throws Failure if LLVM does not know the chip.
  explicit Disassembler(const ChipLimits& chip);
  ~Disassembler();
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  /// Reads one instruction at the front of `bytes`. False: not an instruction; text is ".long 0x..." then, 4 bytes.
  /// `facts` are filled if asked for.
  bool decode(std::span<const u8> bytes, u64 address, Instruction& instruction, MachineFacts* facts = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace monojit::emulator
