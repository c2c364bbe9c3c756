#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/digest.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "cache/limits.h"

namespace monojit::cache {

inline constexpr const char* kEntriesFolder = "entries";
inline constexpr std::string_view kEntrySuffix = ".mono";

/// Whether a folder of this name holds entries: the first two digits of their digests.
bool is_shard_name(std::string_view name);

/// "50/503a….mono": where an entry is, below the folder of entries.
std::string entry_name(const Digest& digest);

/// One entry file, as the file system tells of it without opening it.
struct EntryFile {
  Digest digest;
  std::uint64_t bytes = 0;
  std::int64_t used = 0;  ///< seconds since 1970
};

struct Inventory {
  std::vector<EntryFile> files;
  int error = 0;                 ///< errno of the first folder that can't be read; a missing one can
  std::filesystem::path unread;  ///< that folder: its files are not among these
};

/// Every file below `folder`/entries with an entry's name, in no order. Files that are gone when they are looked at are
/// left out.
Inventory take_inventory(const std::filesystem::path& folder);

/// One entry file of a folder, as listings show it.
struct StoredEntry {
  Digest digest;  ///< from the file's name
  std::filesystem::path file;
  std::uint64_t file_bytes = 0;
  std::int64_t modified = 0;  ///< seconds since 1970, of the last use or store
  std::string problem;        ///< not empty: why the file can't be used; what follows is empty then
  Key key;
  std::string metadata;  ///< only of what was read whole
  std::uint64_t code_bytes = 0;
};

/// How much of each file a listing reads.
enum class Look : std::uint8_t {
  kHead,   ///< the first bytes: what is foreign, cut or of another name is seen, damage behind the key is not
  kWhole,  ///< all of it, verified
};

/// Why a sound entry is of no use for who asks, to go behind its file's name; empty: it is of use. None: all are.
using EntryCheck = std::function<std::string(const Entry& entry)>;

/// The inventory with every file looked at, in the order of their names, but for those that are gone by now. `check`:
/// of those that are read whole.
std::vector<StoredEntry> list_entries(const std::filesystem::path& folder, const Inventory& inventory, Look look,
                                      const EntryCheck& check = {});

/// What a look at the whole file tells of a listed entry.
StoredEntry verified(StoredEntry listed, const EntryCheck& check = {});

/// What removing entries did.
struct Removed {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t failed = 0;

  Removed& operator+=(const Removed& other) {
    entries += other.entries;
    bytes += other.bytes;
    failed += other.failed;
    return *this;
  }
};

/// What a trim left of a folder, and what it took away.
struct Trimmed {
  Removed removed;
  std::uint64_t kept_entries = 0;
  std::uint64_t kept_bytes = 0;
};

/// How far a trim goes once a folder is over its size.
enum class TrimTo : std::uint8_t {
  kLimit,
  kRoom,  ///< a sixteenth below, so that the next store does not trim again
};

/// Removes what is too old of the folder's `inventory`, then what was used least recently until the rest fits. A time
/// that lies ahead of `now` counts as now. What is used meanwhile stays. Readers keep what they have open.
Trimmed trim_entries(const std::filesystem::path& folder, Inventory inventory, const Limits& limits, TrimTo to,
                     std::int64_t now);

/// Whether `file` is a regular one of the right size for `key` that begins with its key. Says nothing of the rest.
bool begins_as_entry(const std::filesystem::path& file, const Key& key);

/// Removes what stands in an entry's place: a file, or a folder with all that is in it. 0 or an errno value.
int remove_entry(const std::filesystem::path& file);

}  // namespace monojit::cache
