// What the checks know of one instruction: its kind, its registers, what it counts and waits for.
#pragma once

#include <optional>

#include "runtime/emulator/decode/instruction.h"
#include "runtime/emulator/decode/register_use.h"
#include "runtime/emulator/execute/wait_counts.h"
#include "runtime/emulator/numerics/matrix.h"

namespace monojit::emulator {

enum class InstructionKind : u8 {
  kOther,
  kScalar,
  kScalarMemory,
  kVector,
  kMatrix,
  kLds,
  kVectorMemory,  ///< MUBUF, MTBUF, GLOBAL, SCRATCH
  kFlat,
  kWait,
  kNop,
};

/// An MFMA as its hazards go.
struct MatrixFacts {
  u32 passes = 0;
  bool xdl = false;      ///< neither f32 nor f64 inputs
  bool doubles = false;  ///< f64
  bool small = false;    ///< f64 4x4
  std::optional<RegisterUse> addend;
};

/// The LDS accesses of a DS instruction: `count` of `bytes` each, at the address register + offsets[i].
struct LdsFacts {
  u32 count = 0;
  u32 bytes = 0;
  u32 address = 0;  ///< VGPR
  u32 offsets[2] = {};
  bool reads = false;
  bool writes = false;
};

struct InstructionFacts {
  InstructionKind kind = InstructionKind::kOther;
  u32 wait_states = 1;     ///< that it takes itself
  u32 scalar_results = 0;  ///< what a scalar memory instruction adds to lgkmcnt
  WaitCounts waits;        ///< of s_waitcnt
  bool dot = false;
  bool crosses_lanes = false;    ///< a lane's result depends on other lanes
  bool takes_undefined = false;  ///< gives a defined result from partly undefined sources, as packing does
  bool low_from_low = false;     ///< the result's low word depends on the low words of 64-bit sources alone
  MatrixFacts matrix;
  LdsFacts lds;
  std::vector<RegisterUse> registers;
};

[[nodiscard]] InstructionFacts facts_of(const Instruction& instruction, const MachineFacts& machine, Chip chip);

/// "v[2:5]", "a7", "s[4:7]", "vcc".
[[nodiscard]] std::string register_name(RegisterUse::File file, u32 first, u32 count = 1);

}  // namespace monojit::emulator
