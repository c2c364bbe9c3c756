#include "runtime/emulator/memory/device_level.h"

namespace monojit::emulator {
namespace {

constexpr u32 kLines = 4096;

u8* memory_of(const Spot& spot) { return reinterpret_cast<u8*>(spot.line()); }

}  // namespace

DeviceLevel::DeviceLevel(LineVersions& versions) : cache_(kLines, versions) {}

void DeviceLevel::set_shared(bool shared) {
  write_back();
  invalidate();
  shared_ = shared;
}

void DeviceLevel::read_line(const Spot& spot, bool refetch, u8* result) {
  if (!shared_) return copy_line(result, spot.line());
  const std::lock_guard lock(mutex_);
  std::memcpy(result, cache_.fetch(spot, refetch), kLineBytes);
}

void DeviceLevel::write_line(const Spot& spot, const LineData& data, ByteMask mask) {
  if (!shared_) return copy_masked(memory_of(spot), data.bytes, mask);
  const std::lock_guard lock(mutex_);
  cache_.write(spot, data, mask);
}

const u8* DeviceLevel::find_line(const Spot& spot, CachePolicy policy, const Freedom& freedom, Random& random,
                                 LineData& buffer) {
  if (!shared_) return memory_of(spot);
  const std::lock_guard lock(mutex_);
  if (policy.scope < Scope::kSystem) {
    std::memcpy(buffer.bytes, cache_.fetch(spot, random.chance(freedom.evict_clean)), kLineBytes);
    return buffer.bytes;
  }
  cache_.write_back(spot);
  if (!random.chance(freedom.keep_stale)) cache_.flush(spot);
  return memory_of(spot);
}

void DeviceLevel::store(const Spot& spot, const LineData& data, ByteMask mask, CachePolicy policy,
                        const Freedom& freedom, Random& random) {
  if (!shared_) return copy_masked(memory_of(spot), data.bytes, mask);
  const std::lock_guard lock(mutex_);
  if (policy.scope < Scope::kSystem) {
    cache_.write(spot, data, mask);
    if (random.chance(freedom.evict_dirty)) cache_.write_back(spot);
    return;
  }
  cache_.overwrite(spot, data, mask);
  copy_masked(memory_of(spot), data.bytes, mask);
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
