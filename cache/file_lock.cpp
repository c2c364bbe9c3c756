#include "cache/file_lock.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/lock_holder.h"

namespace monojit::cache {
namespace {

/// Each retry means that another holder finished, so this many in a row means a file system whose inode numbers can't
/// be trusted.
constexpr int kAttempts = 1000;

bool is_same_file(int descriptor, const std::filesystem::path& file) {
  struct stat opened{};
  struct stat named{};
  return ::fstat(descriptor, &opened) == 0 && ::lstat(file.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

}  // namespace

FileLock::FileLock(std::filesystem::path file, Wait wait, unsigned mode) : file_(std::move(file)) {
  for (int i = 0; i < kAttempts; ++i) {
    if (attempt(wait, mode)) return;
  }
  error_ = ENOLCK;
}

FileLock::FileLock(FileLock&& other) noexcept
    : file_(std::move(other.file_)),
      descriptor_(std::move(other.descriptor_)),
      state_(std::exchange(other.state_, State::kUnavailable)),
      error_(other.error_) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  if (this != &other) {
    release();
    file_ = std::move(other.file_);
    descriptor_ = std::move(other.descriptor_);
    state_ = std::exchange(other.state_, State::kUnavailable);
    error_ = other.error_;
  }
  return *this;
}

bool FileLock::attempt(Wait wait, unsigned mode) {
  descriptor_ = open_file(file_, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode);
  if (!descriptor_.valid()) {
    error_ = errno;
    return true;
  }
  if (mode != Modes().file) set_mode(descriptor_.get(), mode);
  int failed = 0;
  do {
    failed = ::flock(descriptor_.get(), wait == Wait::kNever ? LOCK_EX | LOCK_NB : LOCK_EX);
  } while (failed != 0 && errno == EINTR);
  if (failed != 0) {
    if (errno == EWOULDBLOCK) {
      state_ = State::kBusy;
    } else {
      error_ = errno;
    }
    descriptor_.close();
    return true;
  }
  if (!is_same_file(descriptor_.get(), file_)) return false;
  write_holder(descriptor_.get());
  state_ = State::kHeld;
  return true;
}

void FileLock::release() {
  if (state_ != State::kHeld) return;
  state_ = State::kUnavailable;
  // While it is still locked: whoever waits on this file finds it gone and opens the next one.
  if (is_same_file(descriptor_.get(), file_)) ::unlink(file_.c_str());
  // A forked child shares the open file; closing ours alone would leave it locked.
  ::flock(descriptor_.get(), LOCK_UN);
  descriptor_.close();
}

void FileLock::sweep(const std::filesystem::path& folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator file(folder, error), end; !error && file != end; file.increment(error)) {
    if (file->path().extension() == kLockSuffix) FileLock(file->path(), Wait::kNever).release();
  }
}

}  // namespace monojit::cache
