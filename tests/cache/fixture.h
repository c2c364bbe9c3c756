#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/archive.h"
#include "cache/cache.h"
#include "cache/disk_store.h"

namespace monojit::cache::testing {

/// A folder of its own, gone at the end. Readable by every user, for tests that change the user.
class ScratchFolder {
 public:
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Keeps what was warned of.
class WarningLog {
 public:
  WarningCallback callback();
  std::vector<std::string> lines() const;
  /// The one warning there was; otherwise a text that says how many there were.
  std::string only() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// A store in a folder that does not exist yet, and what it warns of.
struct ScratchStore {
  ScratchFolder scratch;
  WarningLog log;
  Warnings warnings{log.callback()};
  DiskStore store{scratch / "cache", warnings};
};

/// A cache in `folder`, warnings to stderr.
CacheOptions in_folder(std::filesystem::path folder);

/// "built", "disk" or "memory", or "a miss".
std::string source_of(const std::optional<Hit>& hit);

/// Keys of the same shape that differ in their canonical bytes and text.
Key example_key(int number = 1);

/// An entry whose code object is `code_bytes` seeded random bytes.
Entry example_entry(int number = 1, std::size_t code_bytes = 64);

/// What a build of that entry makes.
BuildOutput example_output(int number = 1, std::size_t code_bytes = 64);

/// Runs `body` in a forked child; gives its result as exit status, 128 + the signal if one killed it.
int in_child(const std::function<int()>& body);

/// Starts a forked child; gives its process id.
int start_child(const std::function<int()>& body);
/// Waits for it; gives what in_child() gives.
int wait_for_child(int process);

std::vector<std::byte> read_bytes(const std::filesystem::path& file);
void write_bytes(const std::filesystem::path& file, std::span<const std::byte> bytes);
void write_archive(const std::filesystem::path& file, const std::vector<PackedEntry>& entries);
void write_text(const std::filesystem::path& file, std::string_view text);

/// The permission bits, as chmod takes them.
unsigned mode_of(const std::filesystem::path& file);
void set_mode(const std::filesystem::path& file, unsigned mode);

/// How many files, of any kind, there are under `folder`: folders, the counters and the mark of the last trim not
/// counted.
std::size_t count_files(const std::filesystem::path& folder);

}  // namespace monojit::cache::testing
