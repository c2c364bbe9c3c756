#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <shared_mutex>
#include <unordered_set>

#include "cache/entry.h"

namespace monojit::cache {

/// The entries that this process has used. Found by a fast hash and a full comparison: hashing the key with BLAKE3
/// would cost several times as much as the whole look-up.
class MemoryTier {
 public:
  /// nullptr when there is none.
  std::shared_ptr<const Entry> find(const Key& key) const;
  /// The entry that is kept: `entry`, or the one that was there first.
  std::shared_ptr<const Entry> insert(std::shared_ptr<const Entry> entry);
  /// Entries that callers hold live on.
  void erase(const Key& key);
  std::size_t size() const;

 private:
  struct Probe {
    const Key& key;
    std::size_t hash;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const Probe& probe) const { return probe.hash; }
    std::size_t operator()(const std::shared_ptr<const Entry>& entry) const { return KeyHash()(entry->key); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Probe& a, const std::shared_ptr<const Entry>& b) const { return a.key == b->key; }
    bool operator()(const std::shared_ptr<const Entry>& a, const std::shared_ptr<const Entry>& b) const {
      return a->key == b->key;
    }
  };
  // Readers of one lock share its cache line, so threads that look up different kernels get different locks.
  static constexpr std::size_t kCacheLine = 64;
  struct alignas(kCacheLine) Shard {
    mutable std::shared_mutex mutex;
    std::unordered_set<std::shared_ptr<const Entry>, Hash, Equal> entries;
  };
  static constexpr std::size_t kShards = 16;

  static std::size_t shard_of(std::size_t hash) { return hash >> 32 & (kShards - 1); }

  std::array<Shard, kShards> shards_;
};

}  // namespace monojit::cache
