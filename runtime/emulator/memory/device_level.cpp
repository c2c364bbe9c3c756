#include "runtime/emulator/memory/device_level.h"

namespace monojit::emulator {
namespace {

constexpr u32 kLines = 4096;

}  // namespace

DeviceLevel::DeviceLevel() : cache_(kLines) {}

void DeviceLevel::set_shared(bool shared) {
  write_back();
  invalidate();
  shared_ = shared;
}

void DeviceLevel::read_line(const Spot& spot, bool refetch, u8* result) {
  if (!shared_) return copy_line(result, spot.line());
  const std::lock_guard lock(mutex_);
  std::memcpy(result, cache_.fetch(spot, refetch).data, kLineBytes);
}

void DeviceLevel::write_line(const Spot& spot, const u8* data, ByteMask mask) {
  if (!shared_) return write_masked(spot.line(), data, mask);
  const std::lock_guard lock(mutex_);
  cache_.write_masked_line(spot, data, mask);
}

void DeviceLevel::load(const Spot& spot, u32 bytes, CachePolicy policy, const Freedom& freedom, Random& random,
                       u8* result) {
  if (!shared_) return copy_whole(result, reinterpret_cast<const void*>(spot.address), bytes);
  const std::lock_guard lock(mutex_);
  if (policy.scope < Scope::kSystem) {
    const CacheLine& there = cache_.fetch(spot, random.chance(freedom.evict_clean));
    return copy_whole(result, there.data + spot.offset(), bytes);
  }
  if (CacheLine* const there = cache_.find(spot); there != nullptr && there->dirty != 0) cache_.write_back(*there);
  if (!random.chance(freedom.keep_stale)) cache_.flush(spot);
  copy_whole(result, reinterpret_cast<const void*>(spot.address), bytes);
}

void DeviceLevel::store(const Spot& spot, u32 bytes, CachePolicy policy, const Freedom& freedom, Random& random,
                        const u8* data) {
  if (!shared_) return copy_whole(reinterpret_cast<void*>(spot.address), data, bytes);
  const std::lock_guard lock(mutex_);
  if (policy.scope < Scope::kSystem) {
    CacheLine& there = cache_.write(spot, data, bytes);
    if (random.chance(freedom.evict_dirty)) cache_.write_back(there);
    return;
  }
  cache_.overwrite(spot, data, bytes);
  copy_whole(reinterpret_cast<void*>(spot.address), data, bytes);
}

void DeviceLevel::pass_to_memory(const Spot& spot) {
  if (!shared_) return;
  const std::lock_guard lock(mutex_);
  cache_.flush(spot);
}

bool DeviceLevel::write_back() {
  const std::lock_guard lock(mutex_);
  return cache_.write_back_all();
}

void DeviceLevel::invalidate() {
  const std::lock_guard lock(mutex_);
  cache_.invalidate();
}

}  // namespace monojit::emulator
