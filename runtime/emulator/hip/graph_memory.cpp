#include "runtime/emulator/hip/graph_memory.h"

#include <map>
#include <mutex>

#include "runtime/emulator/hip/runtime.h"

namespace monojit::emulator {
namespace {

struct Owned {
  std::mutex mutex;
  std::map<const void*, const GraphMemory*> all;
};

Owned& owned() {
  static Owned* const instance = new Owned;  // never destroyed: graphs may go late
  return *instance;
}

}  // namespace

GraphMemory::GraphMemory(std::size_t size, u32 owner)
    : pointer(Runtime::get().memory().make(size, {.device = owner})), bytes(size), device(owner) {
  const std::lock_guard lock(owned().mutex);
  owned().all[pointer] = this;
}

GraphMemory::~GraphMemory() {
  {
    const std::lock_guard lock(owned().mutex);
    owned().all.erase(pointer);
  }
  Runtime::get().engine().drain();
  static_cast<void>(Runtime::get().memory().release(pointer));
}

bool GraphMemory::owns(const void* pointer) {
  const std::lock_guard lock(owned().mutex);
  return owned().all.contains(pointer);
}

u64 GraphMemory::total(u32 device) {
  const std::lock_guard lock(owned().mutex);
  u64 sum = 0;
  for (const auto& [pointer, memory] : owned().all) sum += memory->device == device ? memory->bytes : 0;
  return sum;
}

}  // namespace monojit::emulator
