#include "runtime/emulator/execute/wave.h"

namespace monojit::emulator {
namespace {

MemorySpace space_of(const Allocation& memory, u32 device) {
  if (memory.arguments || memory.code) return MemorySpace::kUncounted;
  if (memory.host) return MemorySpace::kHost;
  return memory.device == device && !memory.imported ? MemorySpace::kDevice : MemorySpace::kPeer;
}

}  // namespace

bool Worker::search(u64 first, u64 last) {
  const auto look = [&]() -> const Allocation* {
    const Allocation* const found = list == nullptr ? nullptr : list->find(first, last);
    return found != nullptr && list->accessible(*found, device) ? found : nullptr;
  };
  const Allocation* found = look();
  if (found == nullptr) {  // made or opened after this round began, perhaps
    list = allocations->snapshot();
    found = look();
  }
  if (found == nullptr) return false;
  last_hit = *found;
  space = space_of(last_hit, device);
  return true;
}

void Worker::mark_written(const MemoryRequest& writing) {
  for (u64 lanes = writing.lanes; lanes != 0; lanes &= lanes - 1) {
    const u64 address = writing.addresses[__builtin_ctzll(lanes)];
    if (!reachable(address, address + 1)) continue;
    std::atomic<bool>& written = last_hit.history->written;
    if (!written.load(std::memory_order_relaxed)) written.store(true, std::memory_order_relaxed);
  }
}

}  // namespace monojit::emulator
