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
[[noreturn]] void scalar_memory_fault(const Wave& wave, const MicroOp* op, AccessKind access, u64 address, u32 bytes);
[[noreturn]] void lds_fault(const Wave& wave, const MicroOp* op, u32 lane, u64 address, u32 bytes);
[[noreturn]] void scratch_fault(const Wave& wave, const MicroOp* op, u32 lane, u64 address, u32 bytes);
/// An address that is not a multiple of what the instruction needs.
[[noreturn]] void misaligned_fault(const Wave& wave, const MicroOp* op, AccessKind access, u32 lane, u64 address,
                                   u32 bytes, u32 alignment);
[[noreturn]] void misaligned_lds_fault(const MicroOp* op, AccessKind access, u32 lane, u64 address, u32 bytes,
                                       u32 alignment);
/// A typed buffer access whose data and number format do not go together; `whose` gave them.
[[noreturn]] void element_format_fault(const MicroOp* op, u32 data_format, u32 number_format, const char* whose);
[[noreturn]] void wave_fault(FailureKind kind, const MicroOp* op, const std::string& text);

}  // namespace monojit::emulator
