#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cache/counters.h"
#include "cache/disk_store.h"
#include "cache/entry.h"
#include "cache/inventory.h"
#include "cache/lock_wait.h"
#include "cache/memory_tier.h"
#include "cache/read_only_tier.h"
#include "cache/remote/remote_tier.h"
#include "cache/settings.h"
#include "cache/single_flight.h"
#include "cache/warnings.h"

namespace monojit::cache {

struct CacheOptions {
  std::filesystem::path folder;  ///< empty: in memory only
  WarningCallback warn;          ///< none: warnings go to stderr
  bool strict = false;           ///< never build: what is not in the cache is a MissError
  Settings settings = {};
  WaitOptions wait = {};  ///< for other processes that build what is wanted

  /// The user's folder (cache/folder.h); a warning when there is none.
  static CacheOptions for_user(WarningCallback warn = {});
};

/// Strict mode: the key is not in the cache, and nothing was built.
class MissError : public std::runtime_error {
 public:
  explicit MissError(const Key& key);
  const std::string& key_text() const { return key_text_; }
  const std::string& target() const { return target_; }

 private:
  std::string key_text_;
  std::string target_;
};

enum class Source : std::uint8_t { kBuilt, kDisk, kMemory, kReadOnly, kRemote };
/// "built", "disk", "memory", "read_only" or "remote"
const char* name(Source source);

struct Hit {
  std::shared_ptr<const Entry> entry;
  Source source = Source::kMemory;
  bool stored = false;   ///< a new entry is on disk now
  double lookup_ms = 0;  ///< reading and verifying the file, or finding none; 0 for a hit in memory
  double wait_ms = 0;    ///< for another process that builds the key
  double build_ms = 0;
  double store_ms = 0;
};

/// What a build makes; the key is the cache's to add.
struct BuildOutput {
  std::string metadata;
  std::vector<std::byte> code_object;
};
using Builder = std::function<BuildOutput()>;

/// Memory, then the user's folder, then the read-only ones, then the remote, then a build. Builds fill memory, folder
/// and remote, the remote fills the folder; what is read-only is as near as the folder, so it fills memory alone.
///
/// All of it may be used from any thread.
///
/// A process that forks while builds run must not use the cache in the child.
class Cache {
 public:
  explicit Cache(CacheOptions options);

  /// Never builds and never waits for a build. Nothing when neither tier has the key. An entry that `check` has
  /// something against is said and passed over: the next tier may have a better one.
  std::optional<Hit> lookup(const Key& key, const EntryCheck& check = {});

  /// Whether a tier has the key, without reading the whole entry (DiskStore::contains): for probes.
  bool contains(const Key& key) const;

  /// Builds at most once for all threads and processes that ask at the same time. What the builder throws goes to every
  /// thread that waits for it and leaves nothing behind. A builder may ask for other keys; asking for its own is a
  /// std::logic_error. Strict mode looks as lookup() does, and throws MissError; else `check` is not asked, as who
  /// finds an entry unusable has it built anew (drop()).
  Hit get_or_build(const Key& key, const Builder& build, const EntryCheck& check = {});

  /// What differs in the entries that any folder or archive has of this text and target, as "generator 12ab…,
  /// llvm-22.1.8/comgr-3.0": a miss that another release warmed. Reads every folder, so it is for error messages.
  std::vector<std::string> other_versions(const Key& key);

  /// Forgets the key, as when a device refuses its code object: from now on this process looks it up in memory and in
  /// the user's folder alone, and what is built replaces the remote's. In the user's folder, an entry that another
  /// process has put there since this one read its own stays.
  void drop(const Key& key);

  /// nullptr when the cache is in memory only.
  DiskStore* disk() { return disk_ ? &*disk_ : nullptr; }
  const DiskStore* disk() const { return disk_ ? &*disk_ : nullptr; }

 private:
  std::shared_ptr<const Entry> look_on_disk(const Key& key, Hit& hit, const EntryCheck& check = {});
  std::shared_ptr<const Entry> look_in_read_only(const Key& key, Hit& hit, const EntryCheck& check = {});
  std::shared_ptr<const Entry> look_in_remote(const Key& key, Hit& hit, const EntryCheck& check = {});
  std::shared_ptr<const Entry> look_below_memory(const Key& key, Hit& hit, const EntryCheck& check);
  std::shared_ptr<const Entry> found(std::shared_ptr<const Entry> entry, Source source, Count count, Hit& hit);
  bool was_dropped(const Key& key) const;
  bool was_dropped(const Entry& entry) const;
  void count_miss(const Key& key);
  FileLock lock(const Key& key, Hit& hit) const;
  std::shared_ptr<const Entry> lead(const Key& key, const Builder& build, Hit& hit);
  std::shared_ptr<const Entry> build_and_store(const Key& key, const Builder& build, Hit& hit);

  Warnings warnings_;
  bool strict_;
  WaitOptions wait_;
  MemoryTier memory_;
  std::optional<DiskStore> disk_;
  mutable ReadOnlyTier read_only_;
  mutable RemoteTier remote_;
  Counters counters_;
  mutable std::mutex dropped_mutex_;
  std::map<Digest, std::shared_ptr<const Entry>> dropped_;  ///< with the entry that this process had
  SingleFlight flights_;
};

}  // namespace monojit::cache
