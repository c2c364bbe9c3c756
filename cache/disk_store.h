#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/entry.h"
#include "cache/file_lock.h"
#include "cache/warnings.h"

namespace monojit::cache {

/// One entry file of a folder, as listings show it.
struct StoredEntry {
  Digest digest;  ///< from the file's name
  std::filesystem::path file;
  std::uint64_t file_bytes = 0;
  std::int64_t modified = 0;  ///< seconds since 1970
  std::string problem;        ///< not empty: why the file can't be used; what follows is empty then
  Key key;
  std::string metadata;
  std::uint64_t code_bytes = 0;
};

/// What remove_all() did.
struct Removed {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t failed = 0;
};

/// A folder of entries that any number of processes use at once. docs/cache-format.md shows its layout.
///
/// Problems never throw. They are said once, through Warnings, and then count as a miss or as not stored: each call
/// tries anew, so a folder that comes to work again is used again.
class DiskStore {
 public:
  /// `folder` need not exist; the first store makes it. `warnings` must outlive the store.
  DiskStore(std::filesystem::path folder, const Warnings& warnings);

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path file_of(const Digest& digest) const;

  /// Read and verified, or nullptr.
  std::shared_ptr<const Entry> lookup(const Key& key) const;

  /// Whether the entry is on disk now. Readers see the old file or the whole new one, also after a crash.
  bool store(const Entry& entry);

  /// Held by whoever builds `key`. A lock that can't be had is kUnavailable, and said.
  FileLock lock(const Key& key, FileLock::Wait wait) const;

  /// Every entry file, damaged ones too, in the order of their names.
  std::vector<StoredEntry> list() const;

  /// Whether there was such a file and it is gone.
  bool remove(const Digest& digest);
  /// Every entry, and what dead processes left. Files that are not the cache's own stay.
  Removed remove_all();

  /// Why nothing could be stored now, in one line; nothing when all is well. Makes the folder.
  std::optional<std::string> problem() const;

 private:
  int try_store(const Digest& digest, const std::vector<std::byte>& bytes);
  void warn_of_folder(int error) const;
  void warn_of_unreadable(const std::filesystem::path& file, int error) const;
  void warn_of_file(const std::filesystem::path& file, const std::string& what) const;
  void sweep_once();
  std::vector<StoredEntry> names() const;

  std::filesystem::path folder_;
  const Warnings& warnings_;
  std::atomic<bool> swept_ = false;
};

}  // namespace monojit::cache
