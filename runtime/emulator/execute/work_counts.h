// What a launch did: executed instructions by class, bytes moved by where they lie, and oddities worth a look.
#pragma once

#include "runtime/emulator/execute/counts.h"

namespace monojit::emulator {

/// Where bytes lie, seen from the device that runs the kernel.
enum class MemorySpace : u8 {
  kDevice,  ///< the device's own memory
  kPeer,    ///< another device's, of this process or of another one
  kHost,    ///< the host's
  kLds,
  kScratch,    ///< private memory of lanes
  kUncounted,  ///< kernel arguments and code objects
};
inline constexpr u32 kMemorySpaces = 6;

/// Bytes that active lanes asked for. Scalar accesses count once a wave; an atomic counts as stored, and as loaded too
/// if it returns the old value.
struct MovedBytes {
  std::array<u64, kMemorySpaces> loaded{};
  std::array<u64, kMemorySpaces> stored{};
};

struct WorkCounts {
  alignas(64) DynamicCounts counts{};
  MovedBytes bytes;
  u64 stray_matrix_ops = 0;  ///< MFMAs executed with a partial EXEC
  u64 out_of_range_buffer_lanes = 0;
  u64 buffer_rule_differences = 0;  ///< accesses that the documented range rule and the chip's treat differently

  WorkCounts& operator+=(const WorkCounts& more) {
    for (u32 i = 0; i < kCountClasses; ++i) counts[i] += more.counts[i];
    for (u32 i = 0; i < kMemorySpaces; ++i) {
      bytes.loaded[i] += more.bytes.loaded[i];
      bytes.stored[i] += more.bytes.stored[i];
    }
    stray_matrix_ops += more.stray_matrix_ops;
    out_of_range_buffer_lanes += more.out_of_range_buffer_lanes;
    buffer_rule_differences += more.buffer_rule_differences;
    return *this;
  }
};

}  // namespace monojit::emulator
