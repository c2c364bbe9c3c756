#include "tools/output_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <random>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/common/error.h"

namespace monojit::tools {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // as the kernel has it
constexpr std::size_t kMaxWrite = std::size_t{1} << 30;

[[noreturn]] void fail(const fs::path& file, std::string_view reason) {
  throw UserError(fmt::format("can't write {}: {}", file.string(), reason));
}

[[noreturn]] void fail(const fs::path& file, int code) { fail(file, std::generic_category().message(code)); }

/// What a path leads to.
struct Target {
  fs::path path;  ///< no link
  bool exists = false;
  mode_t mode = 0;  ///< permissions, if it exists
};

Target find_target(const fs::path& file) {
  Target target{file};
  struct stat status{};
  if (stat(file.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) fail(file, EISDIR);
    if (!S_ISREG(status.st_mode)) fail(file, "it is there already and no regular file");
    if (access(file.c_str(), W_OK) != 0) fail(file, errno);
    target.exists = true;
    target.mode = status.st_mode & ALLPERMS;
  } else if (errno != ENOENT) {
    fail(file, errno);
  }
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target.path, error)); ++links) {
    const fs::path next = fs::read_symlink(target.path, error);
    if (error) fail(file, error.value());
    if (links == kMaxLinks) fail(file, ELOOP);
    target.path = target.path.parent_path() / next;
  }
  if (!target.path.has_filename()) fail(file, ENOENT);
  return target;
}

// The one temporary file that there is, for the signal handler.
std::array<char, PATH_MAX> removed_by_signal{};

extern "C" void remove_and_end(int signal_number) {
  unlink(removed_by_signal.data());
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

/// While it lives, a signal that ends the process removes `path` first.
class RemovedBySignal {
 public:
  /// `path` is shorter than PATH_MAX.
  explicit RemovedBySignal(const fs::path& path) {
    removed_by_signal.fill('\0');
    std::ranges::copy(path.native(), removed_by_signal.begin());
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;  // as under nohup
      struct sigaction action{};
      action.sa_handler = remove_and_end;
      sigaction(kSignals[i], &action, nullptr);
    }
  }
  ~RemovedBySignal() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  RemovedBySignal(const RemovedBySignal&) = delete;
  RemovedBySignal& operator=(const RemovedBySignal&) = delete;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

  std::array<struct sigaction, kSignals.size()> before_{};
};

/// A name that nobody else takes, in the folder of `target`. Not made of the target's, which may be as long as names
/// can be.
fs::path temporary_path(const fs::path& file, const Target& target) {
  std::random_device random;
  fs::path path = target.path.parent_path() / fmt::format(".monojit-{:08x}{:08x}.part", random(), random());
  if (path.native().size() >= removed_by_signal.size()) fail(file, ENAMETOOLONG);
  return path;
}

/// A new file beside the target, removed unless it takes the target's place.
class Temporary {
 public:
  Temporary(const fs::path& file, const Target& target)
      : file_(file), target_(target), path_(temporary_path(file, target)), guard_(path_) {
    fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0) fail(file_, errno);
  }

  ~Temporary() {
    if (fd_ >= 0) close(fd_);
    if (!renamed_) unlink(path_.c_str());
  }

  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t done = ::write(fd_, bytes.data(), std::min(bytes.size(), kMaxWrite));
      if (done < 0 && errno != EINTR) fail(file_, errno);
      if (done > 0) bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
  }

  void take_place() {
    if (target_.exists && fchmod(fd_, target_.mode) != 0) fail(file_, errno);
    const int closed = close(fd_);
    fd_ = -1;
    if (closed != 0) fail(file_, errno);
    if (rename(path_.c_str(), target_.path.c_str()) != 0) fail(file_, errno);
    renamed_ = true;
  }

 private:
  const fs::path& file_;
  const Target& target_;
  fs::path path_;
  RemovedBySignal guard_;  // before the file is made
  int fd_ = -1;
  bool renamed_ = false;
};

/// Where a file really lies, so that two names of one are found out.
fs::path place_of(const fs::path& file) {
  std::error_code error;
  fs::path place = fs::weakly_canonical(file, error);
  return error ? fs::absolute(file) : place;
}

}  // namespace

void check_output_file(const fs::path& file) {
  const Target target = find_target(file);
  const Temporary probe(file, target);
}

void replace_file(const fs::path& file, std::span<const std::span<const std::byte>> parts) {
  const Target target = find_target(file);
  Temporary temporary(file, target);
  for (const auto part : parts) temporary.write(part);
  temporary.take_place();
}

void CommandFiles::reads(const fs::path& file) {
  if (!file.empty()) taken_.push_back(place_of(file));
}

void CommandFiles::writes(const fs::path& file, std::string_view option) {
  if (file.empty()) return;
  fs::path place = place_of(file);
  if (std::ranges::find(taken_, place) != taken_.end()) {
    throw UserError(fmt::format("{}: the output {} is read as well, or another output: choose another name", option,
                                file.string()));
  }
  taken_.push_back(std::move(place));
  check_output_file(file);
}

}  // namespace monojit::tools
