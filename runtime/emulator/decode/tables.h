// The parts of the instruction table. Vector instructions exist once for each host instruction set.
#pragma once

#include <span>

#include "runtime/emulator/decode/entry.h"
#include "runtime/emulator/numerics/host_isa.h"

namespace monojit::emulator {

#define MONOJIT_EMULATOR_VECTOR_TABLES                \
  std::span<const Entry> vector_move_entries();       \
  std::span<const Entry> vector_wide_entries();       \
  std::span<const Entry> vector_byte_entries();       \
  std::span<const Entry> vector_saturating_entries(); \
  std::span<const Entry> vector_short_entries();      \
  std::span<const Entry> vector_float_entries();      \
  std::span<const Entry> vector_double_entries();     \
  std::span<const Entry> vector_convert_entries();    \
  std::span<const Entry> vector_fp8_entries();        \
  std::span<const Entry> vector_compare_entries();    \
  std::span<const Entry> vector_packed_entries();     \
  std::span<const Entry> vector_step_entries();       \
  std::span<const Entry> mx_block_entries();          \
  std::span<const Entry> lane_exchange_entries();     \
  std::span<const Entry> buffer_entries();            \
  std::span<const Entry> buffer_format_entries();     \
  std::span<const Entry> flat_entries();              \
  std::span<const Entry> scratch_entries();           \
  std::span<const Entry> lds_entries();               \
  std::span<const Entry> lds_atomic_entries();

namespace isa_v3 {
MONOJIT_EMULATOR_VECTOR_TABLES
}
namespace isa_v4 {
MONOJIT_EMULATOR_VECTOR_TABLES
}

std::span<const Entry> scalar_entries();
std::span<const Entry> scalar_wide_entries();
std::span<const Entry> scalar_control_entries();
std::span<const Entry> scalar_fork_entries();
std::span<const Entry> hardware_register_entries();
std::span<const Entry> vector_skip_entries();
std::span<const Entry> scalar_memory_entries();
std::span<const Entry> scalar_atomic_entries();
std::span<const Entry> pair_entries();

}  // namespace monojit::emulator
