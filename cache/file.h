#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monojit::cache {

/// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  bool valid() const { return value_ >= 0; }
  int get() const { return value_; }
  void close();

 private:
  int value_ = -1;
};

/// The permissions of the folders and files that a cache makes, whatever the process's umask.
struct Modes {
  unsigned folder = 0700;
  unsigned file = 0600;

  /// All rights but those of `mask`; the owner's always.
  static Modes with_umask(unsigned mask);
  /// Those rights of `folder` itself that new files there may have without letting in anyone whom the folder keeps out:
  /// where a group may write there, and new files become that group's. Else, and where there is no folder, the owner's
  /// alone.
  static Modes of_folder(const std::filesystem::path& folder);

  /// The mask that gives these.
  unsigned umask() const { return ~folder & 0777; }
};

/// open(2) with O_CLOEXEC, again when a signal interrupts it. -1 and errno on failure.
Descriptor open_file(const std::filesystem::path& file, int flags, unsigned mode = 0);

/// A file's bytes, or why there are none.
struct FileBytes {
  int error = 0;        ///< errno, ENOENT when there is no such file
  std::string refusal;  ///< not empty: it exists, but is not a regular file of at most the allowed size
  std::vector<std::byte> bytes;
  std::uint64_t file_bytes = 0;  ///< of the whole file
  std::int64_t modified = 0;     ///< seconds since 1970

  /// Why there are none, to go behind the file's name; empty: there are.
  std::string problem() const;
};

/// What read_file() does with the time of a file that it reads.
enum class Touch : std::uint8_t {
  kNo,
  kUsed,  ///< it becomes now, unless it was within the last kUseGrain seconds; where that is not allowed, nothing
};

/// Uses are recorded to this many seconds: a file that is read all the time is not written to all the time.
inline constexpr std::int64_t kUseGrain = 60;

/// Follows no link and waits for no pipe.
FileBytes read_file(const std::filesystem::path& file, std::uint64_t max_bytes, Touch touch = Touch::kNo);
/// At most the first `bytes` of a file of any size.
FileBytes read_head(const std::filesystem::path& file, std::uint64_t bytes);

/// Seconds since 1970.
std::int64_t now_s();

// The first two return 0 or an errno value.
int write_all(int descriptor, std::span<const std::byte> bytes);
/// The folder and its missing parents. ENOTDIR when a file is in the place.
int make_folders(const std::filesystem::path& folder, const Modes& modes = {});
/// Gives the open file these permissions if this user may, for files that others are to open too.
void set_mode(int descriptor, unsigned mode);
/// Makes the names in `folder` durable where that can be: what is lost in a crash otherwise is built anew.
void sync_folder(const std::filesystem::path& folder);

/// Whether an errno value says that a file is not there.
bool is_missing(int error);

/// Without line ends, other control characters and what is no UTF-8 (as \x0a), so that a message stays one line of
/// text.
std::string printable(std::string_view text);

/// "No space left on device"
std::string error_text(int error);

}  // namespace monojit::cache
