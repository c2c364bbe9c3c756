#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/entry.h"
#include "cache/file_lock.h"
#include "cache/inventory.h"
#include "cache/limits.h"
#include "cache/warnings.h"

namespace monojit::cache {

struct StoreOptions {
  Modes modes = {};
  Limits limits = {};  ///< a store that finds the folder above them trims it
};

/// A folder of entries that any number of processes use at once. docs/cache-format.md shows its layout.
///
/// Problems never throw. They are said once, through Warnings, and then count as a miss or as not stored: each call
/// tries anew, so a folder that comes to work again is used again.
class DiskStore {
 public:
  /// `folder` need not exist; the first store makes it. `warnings` must outlive the store.
  DiskStore(std::filesystem::path folder, const Warnings& warnings, StoreOptions options = {});

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path file_of(const Digest& digest) const;

  /// Read and verified, or nullptr. The file's time becomes that of this use.
  std::shared_ptr<const Entry> lookup(const Key& key) const;

  /// Whether there is a file of the right size for `key` that begins with its key: far cheaper than lookup(), which
  /// alone tells whether the rest of it is sound. Says nothing.
  bool contains(const Key& key) const;

  /// Whether the entry is on disk now. Readers see the old file or the whole new one, also after a crash.
  bool store(const Entry& entry);

  /// The same, of bytes that decode() took for an entry with this digest.
  bool store(const Digest& digest, std::span<const std::byte> bytes);

  /// Held by whoever builds `key`. A lock that can't be had is kUnavailable, and said.
  FileLock lock(const Key& key, FileLock::Wait wait) const;
  std::filesystem::path lock_file(const Key& key) const;

  /// The entry files, none of them opened.
  Inventory inventory() const;

  /// Every entry file, damaged ones too, in the order of their names.
  std::vector<StoredEntry> list(Look look = Look::kWhole, const EntryCheck& check = {}) const;

  /// Whether there was such a file and it is gone. Says nothing.
  bool remove(const Digest& digest);
  /// Removes what turned out unusable; says so where that can't be done.
  void discard(const Digest& digest);
  /// Every entry, and what dead processes left. Files that are not the cache's own stay.
  Removed remove_all();
  /// What stands in the place of the store's folders and files, entries aside. A store of an entry removes what is in
  /// its way.
  std::vector<std::filesystem::path> strays() const;
  /// Removes those; gives how many can't be.
  std::uint64_t remove_strays();

  /// What is over these limits, and what dead processes left.
  Trimmed trim(const Limits& limits);

  /// Why nothing could be stored now, in one line; nothing when all is well. Makes the folder.
  std::optional<std::string> problem() const;

 private:
  int try_store(const Digest& digest, std::span<const std::byte> bytes);
  void trim_when_due(std::uint64_t stored_bytes);
  bool last_trim_is_old() const;
  void warn_of_folder(int error, const std::filesystem::path& part = {}) const;
  std::filesystem::path shut_folder(const std::filesystem::path& file, int rights) const;
  void warn_of_group();
  void warn_of_unreadable(const std::filesystem::path& file, int error) const;
  void warn_of_file(const std::filesystem::path& file, const std::string& what) const;
  void sweep_once();
  void sweep();

  std::filesystem::path folder_;
  const Warnings& warnings_;
  StoreOptions options_;
  std::atomic<std::uint64_t> grown_ = 0;  ///< bytes that this object stored since it last looked at the limits
  std::atomic<bool> swept_ = false;
  std::atomic<bool> group_seen_ = false;
};

}  // namespace monojit::cache
