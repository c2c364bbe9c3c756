#include "runtime/workers/worker_folder.h"

#include <cerrno>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/compiler/temporary_folder.h"

namespace monojit::runtime {
namespace {

constexpr std::string_view kPrefix = "monojit-worker-";

cache::Descriptor open_folder(const std::filesystem::path& path) {
  return cache::open_file(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

bool is_mine_and_free(const cache::Descriptor& folder) {
  struct stat status{};
  return folder.valid() && fstat(folder.get(), &status) == 0 && status.st_uid == geteuid() &&
         flock(folder.get(), LOCK_EX | LOCK_NB) == 0;
}

void remove_tree(const std::filesystem::path& path) {
  std::error_code error;
  // An empty one needs no descriptor, of which there may be none.
  if (rmdir(path.c_str()) != 0) (void)std::filesystem::remove_all(path, error);
}

/// Removes folders that no living process holds.
void sweep(const std::filesystem::path& parent) {
  std::error_code error;
  for (std::filesystem::directory_iterator each(parent, error), end; !error && each != end; each.increment(error)) {
    if (!each->path().filename().string().starts_with(kPrefix)) continue;
    if (const cache::Descriptor held = open_folder(each->path()); is_mine_and_free(held)) remove_tree(each->path());
  }
}

}  // namespace

WorkerFolder::WorkerFolder() {
  while (!make()) continue;
  sweep(path_.parent_path());
}

WorkerFolder::~WorkerFolder() { remove_tree(path_); }

bool WorkerFolder::make() {
  path_ = make_temporary_folder(kPrefix);
  descriptor_ = open_folder(path_);
  if (!descriptor_.valid()) return errno != ENOENT;  // it does without a lock, and nobody removes it
  struct stat status{};
  const bool taken = flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  return !taken && (fstat(descriptor_.get(), &status) != 0 || status.st_nlink != 0);
}

}  // namespace monojit::runtime
