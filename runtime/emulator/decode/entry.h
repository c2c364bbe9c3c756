// One row of the instruction table: a mnemonic, how its operands are read, and what it does.
#pragma once

#include <array>
#include <string_view>

#include "runtime/emulator/execute/counts.h"
#include "runtime/emulator/execute/micro_op.h"

namespace monojit::emulator {

/// How a source's constants are encoded and how many registers it takes.
enum class OperandType : u8 { kNone, k16, k32, k64, kF64, kMask };

/// Which lowering reads the operands (lowering.h).
enum class Form : u8 {
  kHandler,           ///< operands in the order of the text: dst, a, b, c
  kVector,            ///< vdst, [mask out], sources
  kCompare,           ///< mask out, sources
  kPair,              ///< packed f32: `base` once for each half of the register pairs
  kWindows,           ///< `base` four times, on the source pair moved by a byte each time
  kMatrix,            ///< MFMA
  kScalar,            ///< [sdst], sources
  kBuffer,            ///< MUBUF
  kFlat,              ///< FLAT, GLOBAL, SCRATCH
  kLds,               ///< DS
  kScalarMemory,      ///< SMEM
  kBranch,            ///< target in SIMM16
  kImmediateOnly,     ///< SIMM16
  kHardwareRegister,  ///< SIMM16 names a hardware register; one scalar besides
  kDropped,           ///< no effect in coherent memory: waits, hints, cache maintenance
};

enum Flag : u16 {
  kTied = 1,       ///< the destination is the last source too
  kVccSource = 4,  ///< reads VCC as a last source that the text does not show
  kImmediate = 8,  ///< SIMM16 is the last source, sign extended
  kUnsignedImmediate = 16,
  kStores = 32,         ///< memory operation without a loaded result
  kReturns = 64,        ///< atomic that may return the old value
  kPacked = 128,        ///< op_sel, op_sel_hi, neg_lo and neg_hi choose 16-bit halves of each source
  kSelectsInOp = 256,   ///< op_sel is an operand of the semantic (aux), not a selection of halves
  kMixes = 512,         ///< v_*_mix*: op_sel, op_sel_hi, neg and abs together are such an operand
  kInsertsHalf = 1024,  ///< the result goes to the half of vdst that op_sel[3] names; the rest stays
  kInsertsByte = 2048,  ///< the same for byte op_sel[3:2]
  kInsertsLow = 4096,   ///< the result goes to the low half
  kInsertsHigh = 8192,  ///< and to the high half
};

/// Handlers of observed programs stand this far behind the plain ones, in rows of memory instructions, waits, barriers
/// and ends.
inline constexpr u32 kObservedHandlers = 4;

/// Handlers are indexed by the set of sources that are rows (bit i: source i). A missing one means: bring a scalar
/// source into a temporary row first.
struct Entry {
  std::string_view mnemonic;
  Form form = Form::kHandler;
  u16 flags = 0;
  CountClass count = CountClass::kOther;
  OperandType result = OperandType::kNone;
  bool mask_result = false;  ///< also (or, for compares, only) writes a lane mask
  u8 source_count = 0;
  u8 data_rows = 0;         ///< memory operations: registers moved a lane
  u8 offset_scale = 0;      ///< DS pair forms: elements that one step of offset0 / offset1 means
  std::string_view base{};  // NOLINT(readability-redundant-member-init): designated initialisers leave it out
  std::array<OperandType, 4> sources{};
  std::array<Handler, 8> handlers{};
};

}  // namespace monojit::emulator
