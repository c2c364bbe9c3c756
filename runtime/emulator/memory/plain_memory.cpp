#include "runtime/emulator/memory/plain_memory.h"

#include <cstring>
#include <memory>
#include <utility>

#include "runtime/emulator/execute/wave.h"
#include "runtime/emulator/memory/cache.h"

namespace monojit::emulator {

void PlainMemory::start_wave(Wave& wave, const WavePlace&) {
  wave.memory_state = std::make_unique<WaveMemoryState>().release();
}

void PlainMemory::abandon_wave(Wave& wave) {
  const std::unique_ptr<WaveMemoryState> state(
      static_cast<WaveMemoryState*>(std::exchange(wave.memory_state, nullptr)));
}

bool PlainMemory::load(Wave& wave, std::unique_ptr<MemoryRequest>& request) {
  for (u64 lanes = request->lanes; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    copy_whole(request->data + lane * kLaneSlot, reinterpret_cast<const void*>(request->addresses[lane]),
               request->length(lane));
  }
  request->deliver(wave, *request);
  return false;
}

bool PlainMemory::store(Wave& wave, std::unique_ptr<MemoryRequest>& request) {
  wave.worker->mark_written(*request);
  for (u64 lanes = request->lanes; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    copy_whole(reinterpret_cast<void*>(request->addresses[lane]), request->data + lane * kLaneSlot,
               request->length(lane));
  }
  return false;
}

u8* PlainMemory::atomic_place(Wave& wave, const MemoryRequest& request, u32 lane) {
  wave.worker->mark_written(request);
  return reinterpret_cast<u8*>(request.addresses[lane]);
}

void PlainMemory::scalar_load(Wave&, const MicroOp*, u64 address, u32 bytes, void* result) {
  std::memcpy(result, reinterpret_cast<const void*>(address), bytes);
}

}  // namespace monojit::emulator
