#include "cache/temp_file.h"

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace monojit::cache {
namespace {

constexpr int kAttempts = 16;
constexpr std::string_view kSuffix = ".tmp";

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) {
    number = static_cast<std::uint64_t>(::getpid()) << 32 ^ static_cast<std::uint64_t>(::clock());
  }
  return number;
}

}  // namespace

SizeLimitSignal::SizeLimitSignal() {
  sigemptyset(&signal_);
  sigaddset(&signal_, SIGXFSZ);
  sigset_t pending;
  sigpending(&pending);
  was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
  pthread_sigmask(SIG_BLOCK, &signal_, &before_);
}

SizeLimitSignal::~SizeLimitSignal() {
  const timespec no_wait{};
  while (!was_pending_ && sigtimedwait(&signal_, nullptr, &no_wait) < 0 && errno == EINTR) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

TempFile::TempFile(const std::filesystem::path& folder, unsigned mode) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (create(folder, mode)) return;
    path_.clear();  // not ours to remove
  }
  error_ = EBUSY;
}

/// False: the name is taken, or a sweep took the file for a dead writer's; another name will do.
bool TempFile::create(const std::filesystem::path& folder, unsigned mode) {
  path_ = folder / fmt::format("{:016x}{}", random_number(), kSuffix);
  descriptor_ = open_file(path_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  if (!descriptor_.valid()) {
    if (errno == EEXIST) return false;
    error_ = errno;
    path_.clear();
    return true;
  }
  if (::flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat status{};
  if (::fstat(descriptor_.get(), &status) == 0 && status.st_nlink == 0) return false;
  if (::fchmod(descriptor_.get(), mode) != 0) error_ = errno;
  return true;
}

TempFile::~TempFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

int TempFile::publish(std::span<const std::byte> bytes, const std::filesystem::path& target) {
  const SizeLimitSignal held_back;
  if (const int error = write_all(descriptor_.get(), bytes); error != 0) return error;
  if (::fsync(descriptor_.get()) != 0 && errno != EINVAL && errno != ENOTSUP && errno != ENOSYS) return errno;
  if (::rename(path_.c_str(), target.c_str()) != 0) return errno;
  path_.clear();
  descriptor_.close();  // the folder may want the last one that this process may have
  sync_folder(target.parent_path());
  return 0;
}

void TempFile::sweep(const std::filesystem::path& folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator file(folder, error), end; !error && file != end; file.increment(error)) {
    if (file->path().extension() != kSuffix) continue;
    const Descriptor descriptor = open_file(file->path(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!descriptor.valid() || ::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) continue;
    ::unlink(file->path().c_str());
  }
}

}  // namespace monojit::cache
