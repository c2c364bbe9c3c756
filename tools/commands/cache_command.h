#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cache/disk_store.h"
#include "tools/report.h"
#include "tools/session.h"

/// What the commands below `monojit cache` share.
namespace monojit::tools {

struct CacheCommand {
  std::string folder;                ///< empty: the user's
  std::vector<std::string> entries;  ///< keys, or the first digits of digests
  std::string archive;               ///< of pack and unpack
  std::string max_size;
  std::string max_age;
  bool all = false;
  bool stale = false;
  bool remove = false;
  bool reset = false;
  bool list = false;
  bool json = false;
};

/// The cache folder of a command, whether or not there is one. Throws UserError where none is named.
std::filesystem::path named_folder(const CacheCommand& command);

/// The cache folder of a command.
struct OpenCache {
  /// Throws UserError where there is none, or a file in its place.
  explicit OpenCache(const CacheCommand& command);
  OpenCache(const OpenCache&) = delete;
  OpenCache& operator=(const OpenCache&) = delete;

  std::string name() const { return cache::printable(store.folder().native()); }
  Json folder_json() const { return store.folder().string(); }

  /// Fails if something of the folder could not be read, which was said then.
  void check_complete() const;

  int complaints = 0;
  cache::Warnings warnings;
  cache::Settings settings;
  cache::DiskStore store;
};

/// "1 entry", "2 entries"
std::string count_text(std::size_t entries);

/// Whether this build would look the entry up: one of another generator or toolchain only misses. False for an
/// unusable one.
bool is_current(const cache::StoredEntry& entry);

/// Those of `entries` that `name` means: one by the start of its digest, or all of a key. Throws UserError when there
/// are none.
std::vector<cache::StoredEntry> find_entries(const std::vector<cache::StoredEntry>& entries, const std::string& name);

Json to_json(const cache::StoredEntry& entry);

/// Removes an entry and counts it. One that is gone by itself meanwhile counts as nothing.
void remove_into(cache::Removed& removed, const cache::StoredEntry& entry, OpenCache& cache);

/// Says how many could not be removed, and fails, if there are any, or if some may not have been seen.
void check_removed(const cache::Removed& removed, const OpenCache& cache);

/// Prints what was removed; then check_removed().
void report_removed(const cache::Removed& removed, const OpenCache& cache, bool as_json);

/// A subcommand with the flags that all of them have.
CLI::App& add_cache_command(CLI::App& parent, const char* name, const char* description,
                            const std::shared_ptr<CacheCommand>& command, void (*action)(const CacheCommand&));

/// stats, trim, clear, verify, path
void add_cache_care(CLI::App& parent, const std::shared_ptr<CacheCommand>& command);

/// pack, unpack
void add_cache_shipping(CLI::App& parent, const std::shared_ptr<CacheCommand>& command);

}  // namespace monojit::tools
