#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "cache/file.h"

namespace monojit::cache {

/// A file that others see only when it is complete. Its writer holds a lock on it, which dies with the process, so
/// anyone can tell a file in the making from one that a dead writer left.
class TempFile {
 public:
  /// Makes an empty file of a fresh name, readable and writable by its owner alone. error() says whether that worked.
  explicit TempFile(const std::filesystem::path& folder);
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  /// Removes the file unless it was published.
  ~TempFile();

  /// 0 or an errno value.
  int error() const { return error_; }

  /// Writes, syncs and moves the file to `target` (same file system), over whatever file is there. 0 or an errno value.
  int publish(std::span<const std::byte> bytes, const std::filesystem::path& target);

  /// Removes what dead writers left in `folder`.
  static void sweep(const std::filesystem::path& folder);

 private:
  bool create(const std::filesystem::path& folder);

  std::filesystem::path path_;
  Descriptor descriptor_;
  int error_ = 0;
};

}  // namespace monojit::cache
