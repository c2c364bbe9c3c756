#pragma once

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <span>

#include "cache/file.h"

namespace monojit::cache {

/// A write over the process's file size limit raises SIGXFSZ, which would end an engine for a file that it can do
/// without. Held back in this thread while this lives, the write fails with EFBIG instead.
class SizeLimitSignal {
 public:
  SizeLimitSignal();
  SizeLimitSignal(const SizeLimitSignal&) = delete;
  SizeLimitSignal& operator=(const SizeLimitSignal&) = delete;
  ~SizeLimitSignal();

 private:
  sigset_t signal_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

/// A file that others see only when it is complete. Its writer holds a lock on it, which dies with the process, so
/// anyone can tell a file in the making from one that a dead writer left.
class TempFile {
 public:
  /// Makes an empty file of a fresh name, with these permissions. error() says whether that worked.
  explicit TempFile(const std::filesystem::path& folder, unsigned mode = Modes().file);
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  /// Removes the file unless it was published.
  ~TempFile();

  /// 0 or an errno value.
  int error() const { return error_; }

  /// Writes, syncs and moves the file to `target` (same file system), over whatever file is there. 0: it is there now;
  /// else an errno value.
  int publish(std::span<const std::byte> bytes, const std::filesystem::path& target);

  /// Removes what dead writers left in `folder`.
  static void sweep(const std::filesystem::path& folder);

 private:
  bool create(const std::filesystem::path& folder, unsigned mode);

  std::filesystem::path path_;
  Descriptor descriptor_;
  int error_ = 0;
};

}  // namespace monojit::cache
