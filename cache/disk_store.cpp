#include "cache/disk_store.h"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/file.h"
#include "cache/folder.h"
#include "cache/temp_file.h"

namespace monojit::cache {
namespace {

constexpr const char* kEntries = "entries";
constexpr const char* kLocks = "locks";
constexpr const char* kTemporary = "tmp";
constexpr std::string_view kEntrySuffix = ".mono";
constexpr std::size_t kShardDigits = 2;
/// The folder may be removed under a store at any moment; it is made anew, but not for ever.
constexpr int kStoreAttempts = 3;

bool is_missing(int error) { return error == ENOENT || error == ESTALE; }

bool means_no_locks(int error) { return error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS; }

/// A link to one is none.
bool is_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(std::filesystem::symlink_status(path, error));
}

std::optional<Digest> digest_of_name(const std::filesystem::path& file) {
  if (file.extension() != kEntrySuffix) return std::nullopt;
  const auto digest = parse_hex(file.stem().native());
  if (!digest || !file.stem().native().starts_with(file.parent_path().filename().native())) return std::nullopt;
  return digest;
}

/// Removes what stands in an entry's place: a file, or a folder with all that is in it. 0 or an errno value.
int remove_entry(const std::filesystem::path& file) {
  if (::unlink(file.c_str()) == 0) return 0;
  const int failed = errno;
  std::error_code error;
  if (!is_folder(file)) return failed;
  std::filesystem::remove_all(file, error);
  return error.value();
}

void fill(StoredEntry& stored) {
  struct stat status{};
  if (::lstat(stored.file.c_str(), &status) == 0) {
    stored.file_bytes = static_cast<std::uint64_t>(status.st_size);
    stored.modified = status.st_mtime;
  }
  const FileBytes read = read_file(stored.file, kMaxEntryBytes);
  if (read.error != 0) {
    stored.problem = read.refusal.empty() ? fmt::format("can't be read ({})", error_text(read.error)) : read.refusal;
    return;
  }
  DecodedEntry decoded = decode(read.bytes);
  if (const auto* error = std::get_if<EntryError>(&decoded)) {
    stored.problem = error->text;
    return;
  }
  auto& entry = std::get<Entry>(decoded);
  if (entry.key.digest() != stored.digest) {
    stored.problem = fmt::format("has the wrong name for its key, {}", describe(entry.key));
    return;
  }
  stored.code_bytes = entry.code_object.size();
  stored.key = std::move(entry.key);
  stored.metadata = std::move(entry.metadata);
}

}  // namespace

DiskStore::DiskStore(std::filesystem::path folder, const Warnings& warnings)
    : folder_(std::move(folder)), warnings_(warnings) {}

std::filesystem::path DiskStore::file_of(const Digest& digest) const {
  const std::string name = hex(digest);
  return folder_ / kEntries / name.substr(0, kShardDigits) / (name + std::string(kEntrySuffix));
}

std::shared_ptr<const Entry> DiskStore::lookup(const Key& key) const {
  const auto file = file_of(key.digest());
  const FileBytes read = read_file(file, kMaxEntryBytes);
  if (is_missing(read.error)) return nullptr;
  if (!read.refusal.empty()) {
    warn_of_file(file, read.refusal);
    return nullptr;
  }
  if (read.error != 0) {
    warn_of_unreadable(file, read.error);
    return nullptr;
  }
  DecodedEntry decoded = decode_for(key, read.bytes);
  if (const auto* error = std::get_if<EntryError>(&decoded)) {
    warn_of_file(file, error->text);
    return nullptr;
  }
  return std::make_shared<const Entry>(std::get<Entry>(std::move(decoded)));
}

bool DiskStore::store(const Entry& entry) {
  sweep_once();
  const Digest digest = entry.key.digest();
  const std::vector<std::byte> bytes = encode(entry);
  int error = ENOENT;
  for (int attempt = 0; attempt < kStoreAttempts && is_missing(error); ++attempt) error = try_store(digest, bytes);
  if (error != 0) warn_of_folder(error);
  return error == 0;
}

int DiskStore::try_store(const Digest& digest, const std::vector<std::byte>& bytes) {
  const auto target = file_of(digest);
  const auto shard = target.parent_path();
  const bool new_shard = ::access(shard.c_str(), F_OK) != 0;
  if (const int error = make_folders(folder_ / kTemporary); error != 0) return error;
  if (const int error = make_folders(shard); error != 0) return error;
  TempFile file(folder_ / kTemporary);
  if (file.error() != 0) return file.error();
  if (is_folder(target)) {  // a rename replaces every other kind of file
    if (const int error = remove_entry(target); error != 0) return error;
  }
  if (const int error = file.publish(bytes, target); error != 0) return error;
  return new_shard ? sync_folder(shard.parent_path()) : 0;
}

FileLock DiskStore::lock(const Key& key, FileLock::Wait wait) const {
  const auto locks = folder_ / kLocks;
  if (const int error = make_folders(locks); error != 0) {
    warn_of_folder(error);
    return {};
  }
  FileLock lock(locks / (hex(key.digest()) + kLockSuffix), wait);
  if (lock.state() != FileLock::State::kUnavailable) return lock;
  if (means_no_locks(lock.error())) {
    warnings_.once("locks " + folder_.native(),
                   fmt::format("cache folder {} has no file locks ({}): processes may build the same kernel twice",
                               printable(folder_.native()), error_text(lock.error())));
  } else {
    warn_of_folder(lock.error());
  }
  return lock;
}

std::vector<StoredEntry> DiskStore::names() const {
  std::vector<StoredEntry> found;
  std::error_code error;
  for (std::filesystem::directory_iterator shard(folder_ / kEntries, error), end; !error && shard != end;
       shard.increment(error)) {
    std::error_code inner;
    for (std::filesystem::directory_iterator file(shard->path(), inner); !inner && file != end; file.increment(inner)) {
      if (const auto digest = digest_of_name(file->path())) {
        found.push_back({.digest = *digest, .file = file->path(), .problem = {}, .key = {}, .metadata = {}});
      }
    }
  }
  if (error && !is_missing(error.value())) warn_of_folder(error.value());
  std::ranges::sort(found, {}, &StoredEntry::digest);
  return found;
}

std::vector<StoredEntry> DiskStore::list() const {
  std::vector<StoredEntry> found = names();
  for (StoredEntry& stored : found) fill(stored);
  return found;
}

bool DiskStore::remove(const Digest& digest) {
  const auto file = file_of(digest);
  const int error = remove_entry(file);
  if (error != 0 && error != ENOENT) warn_of_file(file, fmt::format("can't be removed ({})", error_text(error)));
  return error == 0;
}

Removed DiskStore::remove_all() {
  Removed removed;
  for (const StoredEntry& stored : names()) {
    struct stat status{};
    const bool sized = ::lstat(stored.file.c_str(), &status) == 0;
    if (remove(stored.digest)) {
      ++removed.entries;
      removed.bytes += sized ? static_cast<std::uint64_t>(status.st_size) : 0;
    } else if (::access(stored.file.c_str(), F_OK) == 0) {
      ++removed.failed;
    }
    ::rmdir(stored.file.parent_path().c_str());  // while entries are in it, this does nothing
  }
  TempFile::sweep(folder_ / kTemporary);
  FileLock::sweep(folder_ / kLocks);
  return removed;
}

std::optional<std::string> DiskStore::problem() const {
  int error = make_folders(folder_ / kTemporary);
  if (error == 0) error = make_folders(folder_ / kEntries);
  if (error == 0) error = TempFile(folder_ / kTemporary).error();
  if (error == 0) return std::nullopt;
  return folder_problem(folder_, error);
}

void DiskStore::sweep_once() {
  if (swept_.exchange(true)) return;
  TempFile::sweep(folder_ / kTemporary);
  FileLock::sweep(folder_ / kLocks);
}

void DiskStore::warn_of_folder(int error) const {
  // One cause for all that a folder in a file's place, a read-only disk or a lost right makes fail.
  warnings_.once(fmt::format("folder {} {}", folder_.native(), error), folder_problem(folder_, error));
}

void DiskStore::warn_of_unreadable(const std::filesystem::path& file, int error) const {
  if (error == ENOTDIR || ::access(file.parent_path().c_str(), X_OK) != 0) {
    warn_of_folder(error);
  } else {
    warn_of_file(file, fmt::format("can't be read ({})", error_text(error)));
  }
}

void DiskStore::warn_of_file(const std::filesystem::path& file, const std::string& what) const {
  const std::string text = fmt::format("cache entry {} {}: it is not used", printable(file.native()), what);
  warnings_.once(text, text);
}

}  // namespace monojit::cache
