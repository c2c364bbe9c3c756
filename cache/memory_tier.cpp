#include "cache/memory_tier.h"

#include <mutex>
#include <utility>

namespace monojit::cache {

std::shared_ptr<const Entry> MemoryTier::find(const Key& key) const {
  const Probe probe{key, KeyHash()(key)};
  const Shard& shard = shards_[shard_of(probe.hash)];
  const std::shared_lock lock(shard.mutex);
  const auto found = shard.entries.find(probe);
  return found == shard.entries.end() ? nullptr : *found;
}

std::shared_ptr<const Entry> MemoryTier::insert(std::shared_ptr<const Entry> entry) {
  Shard& shard = shards_[shard_of(KeyHash()(entry->key))];
  const std::lock_guard lock(shard.mutex);
  return *shard.entries.insert(std::move(entry)).first;
}

void MemoryTier::erase(const Key& key) {
  const Probe probe{key, KeyHash()(key)};
  Shard& shard = shards_[shard_of(probe.hash)];
  const std::lock_guard lock(shard.mutex);
  if (const auto found = shard.entries.find(probe); found != shard.entries.end()) shard.entries.erase(found);
}

std::size_t MemoryTier::size() const {
  std::size_t total = 0;
  for (const Shard& shard : shards_) {
    const std::shared_lock lock(shard.mutex);
    total += shard.entries.size();
  }
  return total;
}

}  // namespace monojit::cache
