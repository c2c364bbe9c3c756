#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace monojit::codegen {

/// What one kernel takes of the chip, as its code object states it.
struct Resources {
  std::uint32_t vgpr = 0;  ///< vector registers a lane, AGPRs among them
  std::uint32_t agpr = 0;
  std::uint32_t sgpr = 0;
  std::uint32_t lds_bytes = 0;      ///< a workgroup
  std::uint32_t scratch_bytes = 0;  ///< a lane
  std::uint32_t vgpr_spills = 0;    ///< vector registers kept in scratch
  std::uint32_t sgpr_spills = 0;    ///< scalar registers kept in lanes of vector registers (or in scratch)
  std::uint32_t code_bytes = 0;
  std::uint32_t kernarg_bytes = 0;
  std::uint32_t max_workgroup_size = 0;  ///< threads
  std::uint32_t wave_size = 64;          ///< lanes
  std::uint32_t waves_per_simd = 0;      ///< that the registers allow at once, 1..8
  bool dynamic_stack = false;            ///< the compiler could not bound the scratch

  bool operator==(const Resources&) const = default;
};

/// One argument as the code object describes it.
struct ArgumentMetadata {
  std::string name;
  std::uint32_t offset = 0;  ///< bytes from the start of the kernarg segment
  std::uint32_t size = 0;    ///< bytes
  std::string kind;          ///< "global_buffer", "by_value", "hidden_..."

  bool operator==(const ArgumentMetadata&) const = default;
};

struct KernelMetadata {
  std::string symbol;
  Resources resources;
  std::vector<ArgumentMetadata> arguments;
};

}  // namespace monojit::codegen
