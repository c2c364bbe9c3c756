// A vector instruction whose registers M0 chooses.
#pragma once

#include "runtime/emulator/execute/wave.h"

namespace monojit::emulator {

/// s_set_gpr_idx_on, _off, _mode and _idx. a: the index; imm: what is indexed (bits 0..2 the sources, 3 the
/// destination).
void vgpr_index_on(Wave& wave, const MicroOp* op);
void vgpr_index_off(Wave& wave, const MicroOp* op);
void vgpr_index_enables(Wave& wave, const MicroOp* op);
void vgpr_index_value(Wave& wave, const MicroOp* op);

/// MicroOp::aux of run_indexed: the registers of a lane that a, b, c and dst take, 0 where it is no VGPR.
inline constexpr u32 kIndexedRowsBits = 4;
inline constexpr u32 kIndexedDestination = 3;

/// Executes the next micro-op with the rows that M0 says, then goes on behind it. imm: VGPRs of the kernel. A source
/// beyond them is VGPR 0, a destination beyond them is not written.
void run_indexed(Wave& wave, const MicroOp* op);

}  // namespace monojit::emulator
