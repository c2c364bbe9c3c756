#include "cache/file.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace monojit::cache {
namespace {

constexpr unsigned kOwnerOnly = 0700;

/// Folders that cannot be synced say so with one of these.
bool means_no_sync(int error) { return error == EINVAL || error == ENOTSUP || error == ENOSYS || error == EROFS; }

int make_folder(const std::filesystem::path& folder) {
  if (::mkdir(folder.c_str(), kOwnerOnly) == 0) {
    // A umask that takes the owner's own rights away would make a folder that we can't use.
    struct stat status{};
    if (::stat(folder.c_str(), &status) == 0 && (status.st_mode & kOwnerOnly) != kOwnerOnly) {
      return ::chmod(folder.c_str(), kOwnerOnly) == 0 ? 0 : errno;
    }
    return 0;
  }
  const int error = errno;
  struct stat status{};
  if (::stat(folder.c_str(), &status) != 0) return error;
  return S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    value_ = std::exchange(other.value_, -1);
  }
  return *this;
}

void Descriptor::close() {
  if (value_ >= 0) ::close(std::exchange(value_, -1));
}

Descriptor open_file(const std::filesystem::path& file, int flags, unsigned mode) {
  int descriptor = -1;
  do {
    descriptor = ::open(file.c_str(), flags | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  return Descriptor(descriptor);
}

FileBytes read_file(const std::filesystem::path& file, std::uint64_t max_bytes) {
  const Descriptor descriptor = open_file(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (!descriptor.valid()) {
    if (errno == ELOOP) return {.error = ELOOP, .refusal = "is a symbolic link", .bytes = {}};
    return {.error = errno, .refusal = {}, .bytes = {}};
  }
  struct stat status{};
  if (::fstat(descriptor.get(), &status) != 0) return {.error = errno, .refusal = {}, .bytes = {}};
  if (!S_ISREG(status.st_mode)) return {.error = EINVAL, .refusal = "is not a regular file", .bytes = {}};
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > max_bytes) {
    return {.error = EFBIG, .refusal = fmt::format("has {} bytes, more than any entry", size), .bytes = {}};
  }
  FileBytes result;
  result.bytes.resize(static_cast<std::size_t>(size));
  std::size_t filled = 0;
  while (filled < result.bytes.size()) {
    const auto count = ::read(descriptor.get(), result.bytes.data() + filled, result.bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return {.error = errno, .refusal = {}, .bytes = {}};
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  result.bytes.resize(filled);
  return result;
}

int write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return EIO;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return 0;
}

int make_folders(const std::filesystem::path& folder) {
  const int error = make_folder(folder);
  const auto parent = folder.parent_path();
  if (error != ENOENT || parent.empty() || parent == folder) return error;
  if (const int failed = make_folders(parent); failed != 0) return failed;
  return make_folder(folder);
}

int sync_folder(const std::filesystem::path& folder) {
  const Descriptor descriptor = open_file(folder, O_RDONLY | O_DIRECTORY);
  if (!descriptor.valid()) return errno;
  if (::fsync(descriptor.get()) == 0 || means_no_sync(errno)) return 0;
  return errno;
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7F) {
      result += fmt::format("\\x{:02x}", code);
    } else {
      result += c;
    }
  }
  return result;
}

std::string error_text(int error) { return std::generic_category().message(error); }

}  // namespace monojit::cache
