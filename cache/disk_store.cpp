#include "cache/disk_store.h"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/file.h"
#include "cache/folder.h"
#include "cache/strays.h"
#include "cache/temp_file.h"

namespace monojit::cache {
namespace {

constexpr std::int64_t kTrimPause = 600;  // seconds
/// The folder may be removed under a store at any moment; it is made anew, but not for ever.
constexpr int kStoreAttempts = 3;

bool means_no_locks(int error) { return error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS; }

/// A link to one is none.
bool is_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(std::filesystem::symlink_status(path, error));
}

}  // namespace

DiskStore::DiskStore(std::filesystem::path folder, const Warnings& warnings, StoreOptions options)
    : folder_(std::move(folder)), warnings_(warnings), options_(options) {}

std::filesystem::path DiskStore::file_of(const Digest& digest) const {
  return folder_ / kEntriesFolder / entry_name(digest);
}

std::shared_ptr<const Entry> DiskStore::lookup(const Key& key) const {
  const auto file = file_of(key.digest());
  const FileBytes read = read_file(file, kMaxEntryBytes, Touch::kUsed);
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

bool DiskStore::contains(const Key& key) const { return begins_as_entry(file_of(key.digest()), key); }

bool DiskStore::store(const Entry& entry) { return store(entry.key.digest(), encode(entry)); }

bool DiskStore::store(const Digest& digest, std::span<const std::byte> bytes) {
  sweep_once();
  int error = ENOENT;
  for (int attempt = 0; attempt < kStoreAttempts && is_missing(error); ++attempt) error = try_store(digest, bytes);
  if (error != 0) warn_of_folder(error, shut_folder(file_of(digest), W_OK | X_OK));
  if (error == 0) warn_of_group();
  if (error == 0) trim_when_due(bytes.size());
  return error == 0;
}

int DiskStore::try_store(const Digest& digest, std::span<const std::byte> bytes) {
  const auto target = file_of(digest);
  const auto shard = target.parent_path();
  const bool new_shard = ::access(shard.c_str(), F_OK) != 0;
  for (const std::filesystem::path& own : {folder_ / kTemporaryFolder, shard}) {
    if (const int error = make_own_folder(folder_, own, options_.modes); error != 0) return error;
  }
  TempFile file(folder_ / kTemporaryFolder, options_.modes.file);
  if (file.error() != 0) return file.error();
  if (is_folder(target)) {  // a rename replaces every other kind of file
    if (const int error = remove_entry(target); error != 0) return error;
  }
  if (const int error = file.publish(bytes, target); error != 0) return error;
  if (new_shard) sync_folder(shard.parent_path());
  return 0;
}

std::filesystem::path DiskStore::lock_file(const Key& key) const {
  return folder_ / kLocksFolder / (hex(key.digest()) + kLockSuffix);
}

FileLock DiskStore::lock(const Key& key, FileLock::Wait wait) const {
  const auto file = lock_file(key);
  if (const int error = make_own_folder(folder_, folder_ / kLocksFolder, options_.modes); error != 0) {
    warn_of_folder(error, shut_folder(file, W_OK | X_OK));
    return {};
  }
  if (is_in_files_place(file)) (void)remove_entry(file);
  FileLock lock(file, wait, options_.modes.file);
  if (lock.state() != FileLock::State::kUnavailable) return lock;
  if (means_no_locks(lock.error())) {
    warnings_.once("locks " + folder_.native(),
                   fmt::format("cache folder {} has no file locks ({}): processes may build the same kernel twice",
                               printable(folder_.native()), error_text(lock.error())));
  } else {
    warn_of_folder(lock.error(), shut_folder(file, W_OK | X_OK));
  }
  return lock;
}

Inventory DiskStore::inventory() const {
  Inventory inventory = take_inventory(folder_);
  if (inventory.error == ENOTDIR) {
    warn_of_folder(inventory.error);
  } else if (inventory.error != 0) {
    warnings_.once("unread " + inventory.unread.native(),
                   fmt::format("cache folder {} can't be read ({}): what is in it is left out (may this user read it?)",
                               printable(inventory.unread.native()), error_text(inventory.error)));
  }
  return inventory;
}

std::vector<StoredEntry> DiskStore::list(Look look, const EntryCheck& check) const {
  return list_entries(folder_, inventory(), look, check);
}

bool DiskStore::remove(const Digest& digest) { return remove_entry(file_of(digest)) == 0; }

void DiskStore::discard(const Digest& digest) {
  const auto file = file_of(digest);
  const int error = remove_entry(file);
  if (error != 0 && !is_missing(error)) warn_of_file(file, fmt::format("can't be removed ({})", error_text(error)));
}

Removed DiskStore::remove_all() {
  Removed removed;
  for (const EntryFile& stored : inventory().files) {
    const auto file = file_of(stored.digest);
    if (remove(stored.digest)) {
      ++removed.entries;
      removed.bytes += stored.bytes;
    } else if (::access(file.c_str(), F_OK) == 0) {
      ++removed.failed;
    }
    ::rmdir(file.parent_path().c_str());  // while entries are in it, this does nothing
  }
  removed.failed += remove_strays();
  sweep();
  return removed;
}

std::vector<std::filesystem::path> DiskStore::strays() const { return find_strays(folder_); }

std::uint64_t DiskStore::remove_strays() {
  std::uint64_t failed = 0;
  for (const std::filesystem::path& stray : find_strays(folder_)) {
    if (remove_stray(stray) != 0) ++failed;
  }
  return failed;
}

Trimmed DiskStore::trim(const Limits& limits) {
  sweep();
  return trim_entries(folder_, inventory(), limits, TrimTo::kLimit, now_s());
}

/// Looks at the limits when nobody has for a while, or when this object alone has stored a good part of them.
void DiskStore::trim_when_due(std::uint64_t stored_bytes) {
  constexpr std::uint64_t kGrowthPart = 16;
  const Limits& limits = options_.limits;
  if (!limits.any()) return;
  const std::uint64_t grown = grown_ += stored_bytes;
  const bool grown_much = limits.max_bytes != 0 && grown > limits.max_bytes / kGrowthPart;
  if (!grown_much && !last_trim_is_old()) return;
  const FileLock lock(folder_ / kLocksFolder / (std::string("trim") + kLockSuffix), FileLock::Wait::kNever,
                      options_.modes.file);
  if (lock.state() == FileLock::State::kBusy) return;  // another process is at it
  grown_ = 0;
  trim_entries(folder_, take_inventory(folder_), limits, TrimTo::kRoom, now_s());
  const auto stamp = folder_ / kTrimmedFile;
  if (const Descriptor file = open_own_file(stamp, O_WRONLY | O_CREAT, options_.modes.file); file.valid()) {
    set_mode(file.get(), options_.modes.file);
  }
  ::utimensat(AT_FDCWD, stamp.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);  // whatever it is, it has a time
}

bool DiskStore::last_trim_is_old() const {
  struct stat status{};
  if (::lstat((folder_ / kTrimmedFile).c_str(), &status) != 0) return true;
  const std::int64_t age = now_s() - status.st_mtime;
  return age < 0 || age > kTrimPause;
}

std::optional<std::string> DiskStore::problem() const {
  int error = 0;
  for (const char* own : {kTemporaryFolder, kLocksFolder, kEntriesFolder}) {
    if (error == 0) error = make_own_folder(folder_, folder_ / own, options_.modes);
  }
  if (error == 0) error = TempFile(folder_ / kTemporaryFolder, options_.modes.file).error();
  if (error == 0) return std::nullopt;
  return folder_problem(folder_, error, shut_folder(folder_ / kLocksFolder / "any", W_OK | X_OK));
}

void DiskStore::sweep_once() {
  if (!swept_.exchange(true)) sweep();
}

void DiskStore::sweep() {
  TempFile::sweep(folder_ / kTemporaryFolder);
  FileLock::sweep(folder_ / kLocksFolder);
}

void DiskStore::warn_of_folder(int error, const std::filesystem::path& part) const {
  // One cause for all that a folder in a file's place, a read-only disk or a lost right makes fail.
  warnings_.once(fmt::format("folder {} {}", folder_.native(), error), folder_problem(folder_, error, part));
}

/// The first of the folders on the way to `file`, and of those that a store wants, that does not give these rights.
std::filesystem::path DiskStore::shut_folder(const std::filesystem::path& file, int rights) const {
  for (const auto& part : {folder_, folder_ / kEntriesFolder, file.parent_path(), folder_ / kTemporaryFolder}) {
    if (::access(part.c_str(), rights) != 0 && !is_missing(errno)) return part;
  }
  return {};
}

/// Once a process: what its user stores in the folder of a group whose files are not made that group's.
void DiskStore::warn_of_group() {
  struct stat status{};
  if (group_seen_.exchange(true) || ::stat(folder_.c_str(), &status) != 0) return;
  const bool is_a_groups = (status.st_mode & S_IRWXG) == S_IRWXG && (status.st_mode & S_IWOTH) == 0;
  if (!is_a_groups || (status.st_mode & S_ISGID) != 0 || status.st_gid == ::getegid()) return;
  const std::string name = printable(folder_.native());
  warnings_.once(
      "group " + folder_.native(),
      fmt::format("cache folder {} is a group's, but what is stored there is not made the group's: its other "
                  "members can't use it (chmod g+s {})",
                  name, name));
}

void DiskStore::warn_of_unreadable(const std::filesystem::path& file, int error) const {
  const auto own = is_in_folders_place(folder_ / kEntriesFolder) ? folder_ / kEntriesFolder : file.parent_path();
  if (error == ENOTDIR && is_in_folders_place(own)) {
    const std::string text =
        fmt::format("{} is in the place of a cache folder: nothing is found there", printable(own.native()));
    warnings_.once(text, text);
  } else if (error == ENOTDIR || ::access(file.parent_path().c_str(), X_OK) != 0) {
    warn_of_folder(error, shut_folder(file, X_OK));
  } else {
    warn_of_file(file, fmt::format("can't be read ({})", error_text(error)));
  }
}

void DiskStore::warn_of_file(const std::filesystem::path& file, const std::string& what) const {
  const std::string text = fmt::format("cache entry {} {}: it is not used", printable(file.native()), what);
  warnings_.once(text, text);
}

}  // namespace monojit::cache
