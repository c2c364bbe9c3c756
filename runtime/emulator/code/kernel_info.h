// What a code object says about its kernels: the descriptor that the hardware reads and the metadata for the runtime.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/emulator/types.h"

namespace monojit::emulator {

/// The 64-byte kernel descriptor (`NAME.kd`), in the bits that gfx942 and gfx950 use.
struct KernelDescriptor {
  u32 lds_bytes = 0;
  u32 scratch_bytes = 0;  ///< a lane
  u32 kernarg_bytes = 0;
  i64 entry_offset = 0;  ///< from the descriptor's address
  u32 vgprs = 0;         ///< architectural ones a lane: up to accum_offset
  u32 agprs = 0;
  u32 sgprs = 0;           ///< allocated to a wave, VCC and the trap handler's included
  u32 mode = 0;            ///< initial MODE
  u32 preload_words = 0;   ///< kernel arguments preloaded into SGPRs
  u32 preload_offset = 0;  ///< first preloaded word
  u32 user_sgprs = 0;
  bool dispatch_pointer = false;
  bool queue_pointer = false;
  bool kernarg_pointer = false;
  bool dispatch_id = false;
  bool flat_scratch_init = false;
  bool private_segment_buffer = false;
  bool private_segment_size = false;
  bool workgroup_id[3] = {};
  bool workgroup_info = false;
  u32 work_item_dimensions = 1;  ///< 1..3: how much of VGPR0 is filled
  bool dynamic_stack = false;

  /// Throws Failure (kInvalidImage) if `bytes` is too short, or it asks for more arguments than a launch can bring.
  static KernelDescriptor parse(std::span<const u8> bytes);
};

struct KernelArgument {
  std::string name;
  std::string kind;  ///< "by_value", "global_buffer", "hidden_block_count_x"
  u32 offset = 0;
  u32 bytes = 0;
  std::string type;  ///< "float", where the compiler says it
  [[nodiscard]] bool hidden() const { return kind.starts_with("hidden_"); }
};

struct KernelMetadata {
  std::string name;
  std::string symbol;  ///< "NAME.kd"
  u32 kernarg_bytes = 0;
  u32 lds_bytes = 0;
  u32 scratch_bytes = 0;
  u32 vgprs = 0;
  u32 agprs = 0;
  u32 sgprs = 0;
  u32 max_workgroup = 1024;
  u32 required_workgroup[3] = {};  ///< zeros: none required
  bool uniform_workgroup = false;
  std::vector<KernelArgument> arguments;
};

/// Kernels of an NT_AMDGPU_METADATA note. Throws Failure (kInvalidImage) if it is not readable.
[[nodiscard]] std::vector<KernelMetadata> read_metadata(std::span<const u8> note);

}  // namespace monojit::emulator
