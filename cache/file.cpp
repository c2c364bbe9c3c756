#include "cache/file.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace monojit::cache {
namespace {

constexpr unsigned kPermissions = 0777;

int make_folder(const std::filesystem::path& folder, unsigned mode) {
  if (::mkdir(folder.c_str(), mode) == 0) {
    struct stat status{};
    if (::stat(folder.c_str(), &status) == 0 && (status.st_mode & kPermissions) != mode) {
      // Bits of the parent (set-group-ID) stay.
      return ::chmod(folder.c_str(), mode | (status.st_mode & S_ISGID)) == 0 ? 0 : errno;
    }
    return 0;
  }
  const int error = errno;
  struct stat status{};
  if (::stat(folder.c_str(), &status) != 0) return error;
  return S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
}

/// A file's time is that of its last use.
void record_use(int descriptor, std::int64_t modified) {
  const std::int64_t age = now_s() - modified;
  // A time that lies ahead is that of a wrong clock.
  if (descriptor >= 0 && (age < 0 || age > kUseGrain)) ::futimens(descriptor, nullptr);
}

FileBytes failed_read(int error, std::string refusal = {}) {
  FileBytes result;
  result.error = error;
  result.refusal = std::move(refusal);
  return result;
}

/// Opened as an entry has to be: a regular file, no link, no pipe.
FileBytes open_regular(const std::filesystem::path& file, Descriptor& descriptor) {
  descriptor = open_file(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (!descriptor.valid()) return failed_read(errno, errno == ELOOP ? "is a symbolic link" : "");
  struct stat status{};
  if (::fstat(descriptor.get(), &status) != 0) return failed_read(errno);
  if (!S_ISREG(status.st_mode)) return failed_read(EINVAL, "is not a regular file");
  FileBytes opened;
  opened.file_bytes = static_cast<std::uint64_t>(status.st_size);
  opened.modified = status.st_mtime;
  return opened;
}

/// Fills result.bytes, which end where the file does.
void read_into(FileBytes& result, int descriptor, std::uint64_t size) {
  result.bytes.resize(static_cast<std::size_t>(size));
  std::size_t filled = 0;
  while (filled < result.bytes.size()) {
    const auto count = ::read(descriptor, result.bytes.data() + filled, result.bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      result = failed_read(errno);
      return;
    }
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  result.bytes.resize(filled);
}

/// UTF-8's characters of several bytes, and what the second byte may be; those behind it are 80 to BF. Left out are the
/// control characters U+0080 to U+009F.
struct Utf8Form {
  unsigned char first;
  unsigned char last;  ///< of first bytes
  unsigned char least_second;
  unsigned char most_second;
  std::size_t bytes;
};
constexpr Utf8Form kUtf8Forms[] = {
    {0xC2, 0xC2, 0xA0, 0xBF, 2}, {0xC3, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
    {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
    {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

/// Bytes of the character that `text` begins with; 0: a control character, or no UTF-8.
std::size_t shown_bytes(std::string_view text) {
  constexpr unsigned char kSpace = 0x20;
  constexpr unsigned char kDelete = 0x7F;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  if (byte(0) <= kDelete) return byte(0) >= kSpace && byte(0) != kDelete ? 1 : 0;
  for (const Utf8Form& form : kUtf8Forms) {
    if (byte(0) < form.first || byte(0) > form.last || text.size() < form.bytes) continue;
    if (byte(1) < form.least_second || byte(1) > form.most_second) return 0;
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
    return std::ranges::all_of(text.substr(2, form.bytes - 2), continues) ? form.bytes : 0;
  }
  return 0;
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

Modes Modes::with_umask(unsigned mask) {
  constexpr unsigned kFiles = 0666;
  const Modes owner;
  return {.folder = (kPermissions & ~mask) | owner.folder, .file = (kFiles & ~mask) | owner.file};
}

Modes Modes::of_folder(const std::filesystem::path& folder) {
  struct stat status{};
  if (::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return {};
  const bool for_group = (status.st_mode & S_IRWXG) == S_IRWXG;
  const bool is_inherited = (status.st_mode & S_ISGID) != 0 || status.st_gid == ::getegid();
  if (!for_group || !is_inherited) return {};
  return with_umask((~status.st_mode & kPermissions) | S_IWOTH);
}

std::string FileBytes::problem() const {
  return error == 0 || !refusal.empty() ? refusal : fmt::format("can't be read ({})", error_text(error));
}

FileBytes read_file(const std::filesystem::path& file, std::uint64_t max_bytes, Touch touch) {
  Descriptor descriptor;
  FileBytes result = open_regular(file, descriptor);
  if (result.error != 0) return result;
  if (result.file_bytes > max_bytes) {
    return failed_read(EFBIG, fmt::format("has {} bytes, more than any entry", result.file_bytes));
  }
  read_into(result, descriptor.get(), result.file_bytes);
  if (touch == Touch::kUsed && result.error == 0) record_use(descriptor.get(), result.modified);
  return result;
}

FileBytes read_head(const std::filesystem::path& file, std::uint64_t bytes) {
  Descriptor descriptor;
  FileBytes result = open_regular(file, descriptor);
  if (result.error == 0) read_into(result, descriptor.get(), std::min(result.file_bytes, bytes));
  return result;
}

std::int64_t now_s() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void set_mode(int descriptor, unsigned mode) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || (status.st_mode & kPermissions) == mode) return;
  if (status.st_uid == ::geteuid()) ::fchmod(descriptor, mode);
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

int make_folders(const std::filesystem::path& folder, const Modes& modes) {
  const int error = make_folder(folder, modes.folder);
  const auto parent = folder.parent_path();
  if (error != ENOENT || parent.empty() || parent == folder) return error;
  if (const int failed = make_folders(parent, modes); failed != 0) return failed;
  return make_folder(folder, modes.folder);
}

void sync_folder(const std::filesystem::path& folder) {
  const Descriptor descriptor = open_file(folder, O_RDONLY | O_DIRECTORY);
  if (descriptor.valid()) ::fsync(descriptor.get());
}

bool is_missing(int error) { return error == ENOENT || error == ESTALE; }

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t shown = shown_bytes(text);
    if (shown == 0) {
      fmt::format_to(std::back_inserter(result), "\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else {
      result += text.substr(0, shown);
    }
    text.remove_prefix(std::max<std::size_t>(shown, 1));
  }
  return result;
}

std::string error_text(int error) { return std::generic_category().message(error); }

}  // namespace monojit::cache
