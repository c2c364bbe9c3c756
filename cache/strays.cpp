#include "cache/strays.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/file_lock.h"
#include "cache/inventory.h"

namespace monojit::cache {
namespace {

namespace fs = std::filesystem;

template <class Visit>
void each_in(const fs::path& folder, const Visit& visit) {
  std::error_code error;
  for (fs::directory_iterator item(folder, error), end; !error && item != end; item.increment(error)) {
    visit(item->path());
  }
}

bool is_files_name(const fs::path& own) {
  const fs::path name = own.filename();
  return name.extension() == kLockSuffix || name == kCountersFile || name == kTrimmedFile;
}

}  // namespace

bool is_in_folders_place(const fs::path& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) return false;
  if (!S_ISLNK(status.st_mode)) return true;
  if (::stat(path.c_str(), &status) == 0) return !S_ISDIR(status.st_mode);
  return errno == ENOENT || errno == ENOTDIR || errno == ELOOP;  // anything else may be a folder all the same
}

bool is_in_files_place(const fs::path& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

std::vector<fs::path> find_strays(const fs::path& folder) {
  std::vector<fs::path> strays;
  const auto look_at = [&](const fs::path& own) {
    if (is_in_folders_place(own)) strays.push_back(own);
  };
  for (const char* own : {kEntriesFolder, kLocksFolder, kTemporaryFolder}) look_at(folder / own);
  for (const char* own : {kCountersFile, kTrimmedFile}) {
    if (is_in_files_place(folder / own)) strays.push_back(folder / own);
  }
  each_in(folder / kEntriesFolder, [&](const fs::path& shard) {
    if (is_shard_name(shard.filename().native())) look_at(shard);
  });
  each_in(folder / kLocksFolder, [&](const fs::path& lock) {
    if (lock.extension() == kLockSuffix && is_in_files_place(lock)) strays.push_back(lock);
  });
  return strays;
}

int remove_stray(const fs::path& stray) {
  if (::unlink(stray.c_str()) == 0 || errno == ENOENT) return 0;
  if (errno != EISDIR) return errno;
  // A folder in a folder's place is the cache's own by now.
  return is_files_name(stray) ? remove_entry(stray) : 0;
}

int make_own_folder(const fs::path& folder, const fs::path& own, const Modes& modes) {
  const int error = make_folders(own, modes);
  if (error != ENOTDIR && error != EEXIST) return error;
  bool removed = false;
  for (const fs::path& place : {folder / kEntriesFolder, own}) {
    if (!is_in_folders_place(place)) continue;
    // Gone, or a folder by now: another process was faster.
    if (::unlink(place.c_str()) != 0 && errno != ENOENT && errno != EISDIR) return errno;
    removed = true;
  }
  return removed ? make_folders(own, modes) : error;
}

Descriptor open_own_file(const fs::path& own, int flags, unsigned mode) {
  constexpr int kNeverWaiting = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  if ((flags & O_CREAT) != 0 && is_in_files_place(own) && ::unlink(own.c_str()) != 0) (void)::rmdir(own.c_str());
  return open_file(own, flags | kNeverWaiting, mode);
}

}  // namespace monojit::cache
