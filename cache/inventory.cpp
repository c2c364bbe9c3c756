#include "cache/inventory.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/file.h"
#include "cache/strays.h"

namespace monojit::cache {
namespace {

constexpr std::size_t kShardDigits = 2;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

Folder open_folder(const std::filesystem::path& path) { return Folder(::opendir(path.c_str())); }

std::optional<Digest> digest_of_name(std::string_view shard, std::string_view name) {
  if (!name.ends_with(kEntrySuffix) || !name.starts_with(shard)) return std::nullopt;
  name.remove_suffix(kEntrySuffix.size());
  return parse_hex(name);
}

/// What is no folder at all has no entries, which are not found there either.
void note_unread(const std::filesystem::path& path, int error, Inventory& inventory) {
  if (inventory.error != 0 || error == ENOENT || error == ESTALE || is_in_folders_place(path)) return;
  inventory.error = error;
  inventory.unread = path;
}

void add_shard(const std::filesystem::path& path, std::string_view shard, Inventory& inventory) {
  const Folder folder = open_folder(path);
  if (folder == nullptr) {
    note_unread(path, errno, inventory);
    return;
  }
  while (const dirent* item = ::readdir(folder.get())) {
    const auto digest = digest_of_name(shard, item->d_name);
    struct stat status{};
    if (!digest || ::fstatat(::dirfd(folder.get()), item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    inventory.files.push_back({*digest, static_cast<std::uint64_t>(status.st_size), status.st_mtime});
  }
}

void set_key(StoredEntry& stored, Key key) {
  if (key.digest() != stored.digest) {
    stored.problem = fmt::format("has the wrong name for its key, {}", describe(key));
  } else {
    stored.key = std::move(key);
  }
}

void look_at_head(StoredEntry& stored, const FileBytes& read) {
  DecodedHead decoded = decode_head(read.bytes, read.file_bytes);
  if (const auto* error = std::get_if<EntryError>(&decoded)) {
    stored.problem = error->text;
    return;
  }
  auto& head = std::get<EntryHead>(decoded);
  set_key(stored, std::move(head.key));
  if (stored.problem.empty()) stored.code_bytes = head.code_bytes;
}

void look_at_whole(StoredEntry& stored, const FileBytes& read, const EntryCheck& check) {
  DecodedEntry decoded = decode(read.bytes);
  if (const auto* error = std::get_if<EntryError>(&decoded)) {
    stored.problem = error->text;
    return;
  }
  auto& entry = std::get<Entry>(decoded);
  if (check && entry.key.digest() == stored.digest) stored.problem = check(entry);
  if (stored.problem.empty()) set_key(stored, std::move(entry.key));
  if (!stored.problem.empty()) return;
  stored.metadata = std::move(entry.metadata);
  stored.code_bytes = entry.code_object.size();
}

/// False: the file is not there any more.
bool look_at(StoredEntry& stored, Look look, const EntryCheck& check) {
  const bool whole = look == Look::kWhole;
  const FileBytes read = whole ? read_file(stored.file, kMaxEntryBytes) : read_head(stored.file, kHeadBytes);
  stored.problem = read.problem();
  if (!stored.problem.empty()) return !is_missing(read.error);
  if (whole) {
    look_at_whole(stored, read, check);
  } else {
    look_at_head(stored, read);
  }
  return true;
}

/// An entry of which only its file is known.
StoredEntry unread(const std::filesystem::path& folder, const EntryFile& file) {
  return {.digest = file.digest,
          .file = folder / kEntriesFolder / entry_name(file.digest),
          .file_bytes = file.bytes,
          .modified = file.used,
          .problem = {},
          .key = {},
          .metadata = {}};
}

bool used_since(const std::filesystem::path& file, std::int64_t used) {
  struct stat status{};
  return ::lstat(file.c_str(), &status) == 0 && status.st_mtime != used;
}

bool goes(const EntryFile& file, const Limits& limits, std::int64_t now, bool over) {
  return over || (limits.max_age_s != 0 && now - file.used > limits.max_age_s);
}

}  // namespace

bool is_shard_name(std::string_view name) {
  return name.size() == kShardDigits && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string entry_name(const Digest& digest) {
  const std::string digits = hex(digest);
  return fmt::format("{}/{}{}", digits.substr(0, kShardDigits), digits, kEntrySuffix);
}

Inventory take_inventory(const std::filesystem::path& folder) {
  Inventory inventory;
  const auto entries = folder / kEntriesFolder;
  const Folder shards = open_folder(entries);
  if (shards == nullptr) {
    note_unread(entries, errno, inventory);
    return inventory;
  }
  while (const dirent* item = ::readdir(shards.get())) {
    const std::string_view name = item->d_name;
    if (is_shard_name(name)) add_shard(entries / name, name, inventory);
  }
  return inventory;
}

std::vector<StoredEntry> list_entries(const std::filesystem::path& folder, const Inventory& inventory, Look look,
                                      const EntryCheck& check) {
  std::vector<StoredEntry> found;
  found.reserve(inventory.files.size());
  for (const EntryFile& file : inventory.files) {
    StoredEntry& stored = found.emplace_back(unread(folder, file));
    if (!look_at(stored, look, check)) found.pop_back();
  }
  std::ranges::sort(found, {}, &StoredEntry::digest);
  return found;
}

StoredEntry verified(StoredEntry listed, const EntryCheck& check) {
  listed.key = {};
  listed.code_bytes = 0;
  (void)look_at(listed, Look::kWhole, check);
  return listed;
}

Trimmed trim_entries(const std::filesystem::path& folder, Inventory inventory, const Limits& limits, TrimTo to,
                     std::int64_t now) {
  constexpr std::uint64_t kRoomPart = 16;
  std::vector<EntryFile> files = std::move(inventory.files);
  std::ranges::sort(files, {}, [&](const EntryFile& file) { return std::pair(std::min(file.used, now), file.digest); });
  Trimmed trimmed{.removed = {}, .kept_entries = files.size()};
  for (const EntryFile& file : files) trimmed.kept_bytes += file.bytes;
  std::uint64_t target = limits.max_bytes;
  if (to == TrimTo::kRoom && trimmed.kept_bytes > target) target -= target / kRoomPart;
  for (const EntryFile& file : files) {
    const bool over = limits.max_bytes != 0 && trimmed.kept_bytes > target;
    if (!goes(file, limits, now, over)) break;  // the others are younger, and fit
    const auto path = folder / kEntriesFolder / entry_name(file.digest);
    if (used_since(path, file.used)) continue;
    const int error = remove_entry(path);
    if (error != 0 && error != ENOENT) {
      ++trimmed.removed.failed;
      continue;
    }
    --trimmed.kept_entries;
    trimmed.kept_bytes -= file.bytes;
    if (error == 0) {
      ++trimmed.removed.entries;
      trimmed.removed.bytes += file.bytes;
    }
  }
  return trimmed;
}

bool begins_as_entry(const std::filesystem::path& file, const Key& key) {
  const Descriptor opened = open_file(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  struct stat status{};
  if (!opened.valid() || ::fstat(opened.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const std::vector<std::byte> wanted = entry_head(key, static_cast<std::uint64_t>(status.st_size));
  std::vector<std::byte> head(wanted.size());
  return ::pread(opened.get(), head.data(), head.size(), 0) == static_cast<ssize_t>(head.size()) && head == wanted;
}

int remove_entry(const std::filesystem::path& file) {
  if (::unlink(file.c_str()) == 0) return 0;
  const int failed = errno;
  struct stat status{};
  if (::lstat(file.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return failed;
  std::error_code error;
  std::filesystem::remove_all(file, error);
  return error.value();
}

}  // namespace monojit::cache
