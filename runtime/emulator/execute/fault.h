// Faults of a running wave. All of these throw Failure; the scheduler adds kernel, workgroup, wave and instruction.
#pragma once

#include <string>

#include "runtime/emulator/execute/wave.h"
#include "runtime/emulator/failure.h"

namespace monojit::emulator {

enum class AccessKind : u8 { kLoad, kStore, kAtomic };

/// What a wave was doing when it could not go on.
class WaveFault : public Failure {
 public:
  WaveFault(FailureKind kind, const MicroOp* op, const std::string& text) : Failure(kind, text), op_(op) {}
  [[nodiscard]] const MicroOp* op() const { return op_; }

 private:
  const MicroOp* op_;
};

[[noreturn]] void memory_fault(const Wave& wave, const MicroOp* op, AccessKind access, u32 lane, u64 address,
                               u32 bytes);
[[noreturn]] void scalar_memory_fault(const Wave& wave, const MicroOp* op, u64 address, u32 bytes);
[[noreturn]] void lds_fault(const Wave& wave, const MicroOp* op, u32 lane, u64 address, u32 bytes);
[[noreturn]] void scratch_fault(const Wave& wave, const MicroOp* op, u32 lane, u64 address, u32 bytes);
[[noreturn]] void wave_fault(FailureKind kind, const MicroOp* op, const std::string& text);

}  // namespace monojit::emulator
