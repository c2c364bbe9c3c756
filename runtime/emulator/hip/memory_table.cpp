#include "runtime/emulator/hip/memory_table.h"

namespace monojit::emulator {

void* MemoryTable::make(u64 bytes, const MemoryOrigin& origin) {
  // Managed memory is within every device's reach, as the host's is.
  const bool any_device = origin.host || origin.managed;
  void* const pointer = allocations_.allocate(bytes, any_device ? Allocations::Use::kHost : Allocations::Use::kDevice,
                                              origin.kind, origin.device);
  const std::lock_guard lock(mutex_);
  entries_[reinterpret_cast<u64>(pointer)] = {origin, bytes};
  return pointer;
}

void MemoryTable::register_host(void* pointer, u64 bytes, MemoryOrigin origin) {
  origin.host = origin.registered = true;
  allocations_.adopt(pointer, bytes, origin.kind);
  const std::lock_guard lock(mutex_);
  entries_[reinterpret_cast<u64>(pointer)] = {origin, bytes};
}

bool MemoryTable::release(void* pointer) {
  {
    const std::lock_guard lock(mutex_);
    if (entries_.erase(reinterpret_cast<u64>(pointer)) == 0) return false;
  }
  return allocations_.release(pointer);
}

MemoryBlock MemoryTable::at(const void* pointer) const {
  const u64 address = reinterpret_cast<u64>(pointer);
  const auto list = allocations_.snapshot();
  const Allocation* const found = list->find(address, address + 1);
  if (found == nullptr) return {};
  MemoryBlock block{.begin = found->begin,
                    .end = found->end,
                    .number = found->number,
                    .code = found->code,
                    .imported = found->imported};
  block.origin.host = found->host;
  const std::lock_guard lock(mutex_);
  if (const auto entry = entries_.find(found->begin); entry != entries_.end()) block.origin = entry->second.origin;
  return block;
}

u64 MemoryTable::used(u32 device) const {
  const std::lock_guard lock(mutex_);
  u64 sum = 0;
  for (const auto& [address, entry] : entries_) {
    if (!entry.origin.host && entry.origin.device == device) sum += entry.bytes;
  }
  return sum;
}

}  // namespace monojit::emulator
