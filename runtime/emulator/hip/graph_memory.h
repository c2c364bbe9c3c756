// Memory that graphs own.
#pragma once

#include <cstddef>

#include "runtime/emulator/types.h"

namespace monojit::emulator {

/// There from the making of the allocation node, at one address for all launches, until the last graph with the node is
/// gone. Freeing it earlier is allowed and does nothing.
struct GraphMemory {
  GraphMemory(std::size_t bytes, u32 device);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  /// Whether a graph owns the memory that begins there.
  [[nodiscard]] static bool owns(const void* pointer);
  /// All graph memory of the device, in bytes.
  [[nodiscard]] static u64 total(u32 device);

  void* pointer;
  std::size_t bytes;
  u32 device;
};

}  // namespace monojit::emulator
