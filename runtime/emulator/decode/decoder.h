// From a kernel's machine code to a Program.
#pragma once

#include <memory>
#include <mutex>

#include "runtime/emulator/chip.h"
#include "runtime/emulator/decode/disassembler.h"
#include "runtime/emulator/decode/instruction_table.h"
#include "runtime/emulator/decode/program.h"
#include "runtime/emulator/numerics/matrix.h"

namespace monojit::emulator {

class Module;
struct Kernel;

class Decoder {
 public:
  Decoder(const ChipLimits& chip, MatrixModel matrix, HostIsa isa);

  /// Decodes the kernel's function, and the module's other functions if it calls or jumps through registers.
  [[nodiscard]] std::unique_ptr<const Program> decode(const Module& module, const Kernel& kernel,
                                                      ProgramVariant variant) const;
  [[nodiscard]] const InstructionTable& table() const { return table_; }

 private:
  ChipLimits chip_;
  MatrixModel matrix_;
  InstructionTable table_;
  mutable std::mutex mutex_;  // LLVM's disassembler has state
  mutable Disassembler disassembler_;
};

}  // namespace monojit::emulator
