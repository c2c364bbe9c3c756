// The checks of one wave's instructions: called by the probe that stands before each instruction of a checked program.
#pragma once

#include <memory>
#include <optional>

#include "runtime/emulator/checks/checks.h"
#include "runtime/emulator/checks/defined_registers.h"
#include "runtime/emulator/checks/matrix_hazards.h"
#include "runtime/emulator/checks/pending_results.h"
#include "runtime/emulator/code/kernel_info.h"
#include "runtime/emulator/decode/program.h"

namespace monojit::emulator {

class RaceDetector;

class WaveChecks {
 public:
  /// Of a wave of a kernel with this descriptor, which is about to start.
  WaveChecks(const Checks& checks, Chip chip, const KernelDescriptor& kernel, RaceDetector* races);

  /// Throws WaveFault (kCheckFailed) naming what is wrong with executing the instruction at `op` now.
  void before(Wave& wave, const MicroOp* op);

 private:
  Checks checks_;
  std::optional<DefinedRegisters> defined_;
  std::optional<PendingResults> pending_;
  std::optional<MatrixHazards> hazards_;
  RaceDetector* races_;
};

/// The micro-op before each instruction of a checked program; imm: its number.
void probe_instruction(Wave& wave, const MicroOp* op);

}  // namespace monojit::emulator
